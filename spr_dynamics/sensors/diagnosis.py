"""Why a contact sensor is silent, in words."""
import numpy as np

AXES = 'xyz'


def complaint(settings, reading, others) -> str:
    """
    Say why a contact sensor reports less than a user may expect; nothing if all is well.

    :param settings: Validated settings.
    :param reading: The newest ``ContactReading``, or None if there is none.
    :param others: How many contacts press on collisions of the link that it doesn't watch; None:
        it watches none at all.
    """
    if others is None:
        return f"link '{settings.link}' has no collision that can touch anything"
    if reading is None:
        return 'no sample was taken yet'
    if not reading.seen:
        return f'link touches {contacts(others)}, none with the collisions that count: ' \
               f'{", ".join(settings.collisions)}' if others else ''
    if not reading.counted:
        return f'link touches {contacts(reading.seen)}, none within the patch; nearest misses ' \
               f'by {miss_in_words(reading.nearest_miss)}'
    if not reading.contact:
        return f'{contacts(reading.counted)} in the patch, but |force z| is not above ' \
               f'force_sensitivity = {settings.force_sensitivity:g} N'
    if reading.saturated:
        return f'force is clamped on {reading.saturated} of 3 axes to force_saturation = ' \
               f'{settings.force_saturation.tolist()} N'
    if settings.force_resolution.any() and not reading.force.any():
        return f'force rounds to 0 at force_resolution = {settings.force_resolution.tolist()} N'
    return ''


def contacts(count) -> str:
    """Count contacts in words."""
    return '1 contact' if count == 1 else f'{count} contacts'


def miss_in_words(miss) -> str:
    """Say how far outside a contact is, the longest way first."""
    order = np.argsort(-np.abs(miss), kind='stable')
    return ', '.join(f'{abs(miss[k]) * 1e3:.3g} mm in {AXES[k]}' for k in order if miss[k])
