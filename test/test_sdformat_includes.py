"""Includes: where URIs lead, what an include overrides, merging, and all that is refused."""
import os
import time

import numpy as np
import pytest
from spr_dynamics.errors import SdfError
from spr_dynamics.sdformat import assemble, read, uris
from spr_dynamics.sdformat.read import examine

ROUNDOFF = 1e-12
ARM = ('<model name="arm"><pose>0 0 3 0 0 0</pose><link name="base"/>'
       '<link name="hand"><pose>1 0 0 0 0 0</pose></link>'
       '<joint name="j" type="fixed"><parent>base</parent><child>hand</child></joint></model>')


def sdf(body, version='1.12'):
    return f'<sdf version="{version}">\n{body}\n</sdf>'


def world(body):
    return sdf(f'<world name="w">\n{body}\n</world>')


def include(uri, rest='', attributes=''):
    return f'<include {attributes}><uri>{uri}</uri>{rest}</include>'


@pytest.fixture(autouse=True)
def no_paths_from_outside(monkeypatch):
    for name in (*uris.PATH_VARIABLES, 'AMENT_PREFIX_PATH'):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def write(tmp_path):
    def write(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path
    return write


@pytest.fixture
def paths(write, tmp_path):
    """Put a model arm into a model folder, and name that folder."""
    write('library/arm/model.config',
          '<model><sdf version="1.4">old.sdf</sdf><sdf version="1.12">arm.sdf</sdf></model>')
    write('library/arm/arm.sdf', sdf(ARM))
    return [tmp_path / 'library']


def message(path, **options):
    with pytest.raises(SdfError) as caught:
        read(path, **options)
    return str(caught.value)


def positions(root):
    return {f'{link.model}::{link.name}': list(np.round(link.T_WL.p, 12))
            for link in assemble(root).links}


# where URIs lead

@pytest.mark.parametrize('uri', [
    'model://arm', 'model://arm/arm.sdf', 'arm', 'arm/arm.sdf', 'arm/'])
def test_model_is_found_in_the_model_path(uri, write, paths):
    root = read(write('w.sdf', world(include(uri))), model_paths=paths)
    assert positions(root) == {'arm::base': [0, 0, 3], 'arm::hand': [1, 0, 3]}
    assert not root.warnings


@pytest.mark.parametrize('variable', uris.PATH_VARIABLES)
def test_environment_adds_to_the_model_path(variable, write, paths, monkeypatch):
    monkeypatch.setenv(variable, f'/nowhere:{paths[0]}')
    assert read(write('w.sdf', world(include('model://arm')))).worlds[0].models[0].name == 'arm'


def test_model_path_comes_before_the_environment(write, paths, tmp_path, monkeypatch):
    monkeypatch.setenv('GZ_SIM_RESOURCE_PATH', str(tmp_path / 'other'))
    write('other/arm/arm.sdf', sdf('<model name="wrong"><link name="l"/></model>'))
    path = write('w.sdf', world(include('model://arm/arm.sdf')))
    assert read(path, model_paths=paths).worlds[0].models[0].name == 'arm'


def test_folder_models_beside_the_file_is_a_model_path(write):
    write('models/arm/arm.sdf', sdf(ARM))
    assert read(write('w.sdf', world(include('model://arm/arm.sdf')))).worlds[0].models


def test_relative_path_starts_at_the_including_file(write, paths):
    write('a/b/part.sdf', sdf('<model name="near"><link name="l"/></model>'))
    write('library/part.sdf', sdf('<model name="far"><link name="l"/></model>'))
    write('a/mid.sdf', sdf('<model name="mid">' + include('b/part.sdf') + '</model>'))
    root = read(write('w.sdf', world(include('a/mid.sdf'))), model_paths=paths)
    assert root.worlds[0].models[0].models[0].name == 'near'


def test_text_has_relative_paths_from_the_current_directory(write, paths, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert read(text=world(include('library/arm'))).worlds[0].models[0].name == 'arm'


def test_absolute_paths_and_file_uris(write, paths):
    arm = paths[0] / 'arm'
    for uri in (arm, f'file://{arm}', f'file://{arm}/arm.sdf', 'file://library/arm'):
        assert read(write('w.sdf', world(include(uri)))).worlds[0].models[0].name == 'arm'


def test_package_is_found_by_the_caller_the_model_path_or_ament(
        write, paths, tmp_path, monkeypatch):
    path = write('w.sdf', world(include('package://arm/arm.sdf')))
    assert read(path, package_path={'arm': paths[0] / 'arm'}.get).worlds[0].models
    assert read(path, model_paths=paths).worlds[0].models
    write('prefix/share/arm/arm.sdf', sdf(ARM))
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(tmp_path / 'prefix'))
    assert read(path).worlds[0].models
    assert 'there is no ROS package of that name' in message(path, package_path={}.get)


def test_symbolic_links_out_of_the_model_path_are_followed(write, tmp_path):
    """`colcon build --symlink-install` fills share folders with links to the sources."""
    real = write('src/arm/arm.sdf', sdf(ARM))
    (tmp_path / 'install').mkdir()
    (tmp_path / 'install' / 'arm').symlink_to(real.parent)
    path = write('w.sdf', world(include('model://arm/arm.sdf')))
    assert read(path, model_paths=[tmp_path / 'install']).worlds[0].models


@pytest.mark.parametrize('uri, expected', [
    ('model://amr', "w.sdf:3: world 'w': <include> of 'model://amr': not found (did you mean "
                    "'arm'?) (looked at "),
    ('model://arm/amr.sdf', "(did you mean 'arm.sdf'?)"),
    ('model://../secret.sdf', "leads out of the model path by '..'"),
    ('package://../secret.sdf', "leads out of the model path by '..'"),
    ('https://fuel.gazebosim.org/1.0/models/arm', 'is in the network, from where nothing is'),
    ('gz://arm', "has the scheme 'gz' (known: model, package, file)"),
    ('', '<include> has no <uri>'),
    ('empty', 'the folder '),
    ('a\nb', 'holds a line break'),
    ('x' * 5000, 'is longer than 4096 characters'),
    ('/dev/zero', 'not found'),
])
def test_uri_that_leads_nowhere(uri, expected, write, paths, tmp_path):
    (tmp_path / 'empty').mkdir()
    text = message(write('w.sdf', world(include(uri))), model_paths=paths)
    assert expected in text and '\n' not in text and len(text) < 2000


# model.config

@pytest.mark.parametrize('config, expected', [
    ('<model><sdf version="1.12">no.sdf</sdf></model>', 'there is no file '),
    ('<model><name>x</name></model>', 'names no <sdf> file of a version that can be read'),
    ('<model><sdf version="9.9">arm.sdf</sdf></model>', 'names no <sdf> file of a version'),
    ('<model>', 'not XML'),
])
def test_bad_model_config(config, expected, write, paths):
    write('library/arm/model.config', config)
    text = message(write('w.sdf', world(include('model://arm'))), model_paths=paths)
    assert expected in text and 'model.config:1: ' in text and 'included from' in text


def test_newer_version_is_left_out_with_a_warning(write, paths):
    write('library/arm/model.config', '<model><sdf version="1.9">arm.sdf</sdf>\n'
          '<sdf version="1.13">future.sdf</sdf></model>')
    root = read(write('w.sdf', world(include('model://arm'))), model_paths=paths)
    warning, = root.warnings
    assert "model.config:2: version '1.13' of this model is not known" in str(warning)


def test_config_without_versions_names_its_first_file(write, paths):
    write('library/arm/model.config', '<model><sdf>arm.sdf</sdf><sdf>no.sdf</sdf></model>')
    assert read(write('w.sdf', world(include('model://arm'))), model_paths=paths).worlds[0].models


def test_manifest_is_read_with_a_warning(write, paths):
    config = paths[0] / 'arm' / 'model.config'
    config.rename(config.with_name('manifest.xml'))
    root = read(write('w.sdf', world(include('model://arm'))), model_paths=paths)
    assert 'manifest.xml is deprecated' in str(root.warnings[0])


# versions

def test_unknown_versions_are_tried_if_asked_for(write):
    for version in ('1.13', '2.0', '1.0', 'abc'):
        path = write('a.sdf', sdf(ARM, version))
        assert f"version '{version}'" in message(path)
        root = read(path, any_version=True)
        assert 'is read as if it were 1.12' in str(root.warnings[0])
    write('future.sdf', sdf(ARM, '1.13'))
    path = write('w.sdf', world(include('future.sdf')))
    assert '(included from ' in message(path)
    assert read(path, any_version=True).worlds[0].models


def test_only_a_newer_version_of_a_model_is_tried_if_asked_for(write, paths):
    write('library/arm/model.config', '<model><sdf version="1.14">no.sdf</sdf>'
          '<sdf version="1.13">arm.sdf</sdf></model>')
    path = write('w.sdf', world(include('model://arm')))
    assert read(path, model_paths=paths, any_version=True).worlds[0].models


def test_included_file_is_converted_by_its_own_version(write):
    write('old.sdf', sdf(
        '<model name="m"><link name="a"><pose>0 0 0 0 0 1.5707963267948966</pose></link>'
        '<joint name="j" type="revolute"><parent>world</parent><child>a</child>'
        '<axis><xyz>1 0 0</xyz></axis></joint></model>', '1.4'))
    joint = assemble(read(write('w.sdf', world(include('old.sdf'))))).joints[0]
    np.testing.assert_allclose(joint.axes[0], [0, -1, 0], atol=ROUNDOFF)


# overrides

def test_includes_stand_in_all_three_places(write, paths):
    for body in (include('arm'), f'<world name="w">{include("arm")}</world>',
                 f'<model name="m">{include("arm")}</model>'):
        assert len(assemble(read(write('w.sdf', sdf(body)), model_paths=paths)).links) == 2


def test_overrides(write, paths):
    rest = ('<name>B</name><pose degrees="true">1 2 3 0 0 90</pose><static>true</static>'
            '<placement_frame>hand</placement_frame><namespace>ns</namespace>'
            '<plugin name="p" filename="f"/>')
    root = read(write('w.sdf', world(include('arm', rest))), model_paths=paths)
    model, = root.worlds[0].models
    assert (model.name, model.static, model.placement_frame) == ('B', True, 'hand')
    assert positions(root) == {'B::base': [1, 1, 3], 'B::hand': [1, 2, 3]}
    assert not root.warnings


def test_empty_pose_resets_and_no_pose_keeps(write, paths):
    path = write('w.sdf', world(include('arm', '<name>a</name><pose/>') + include('arm')))
    assert positions(read(path, model_paths=paths)) == {
        'a::base': [0, 0, 0], 'a::hand': [1, 0, 0], 'arm::base': [0, 0, 3], 'arm::hand': [1, 0, 3]}


def test_pose_of_an_include_may_be_relative_to_a_sibling(write, paths):
    path = write('w.sdf', world('<frame name="f"><pose>0 5 0 0 0 0</pose></frame>' + include(
        'arm', '<pose relative_to="f">1 0 0 0 0 0</pose>')))
    assert positions(read(path, model_paths=paths))['arm::base'] == [1, 5, 0]


@pytest.mark.parametrize('body, expected', [
    (include('arm', '<placement_frame>hand</placement_frame>'),
     '<placement_frame> needs a <pose> beside it'),
    (include('arm', '<pose/><placement_frame>hnd</placement_frame>'),
     "placement_frame 'hnd' is not in model 'arm' (did you mean 'hand'?)"),
    (include('arm', '<name>a::b</name>'), "name 'a::b': '::' can't be part of a name"),
    (include('arm', '<pose>1 2</pose>'), "w.sdf:3: world 'w': <pose> '1 2'"),
    (include('arm', '<static>maybe</static>'), "w.sdf:3: world 'w': <static> 'maybe'"),
    (include('arm', attributes='merge="perhaps"'), "w.sdf:3: world 'w': attribute 'merge' 'perha"),
    (include('arm') + '\n' + include('arm'), "model 'arm' has the name of the model in line 2"),
])
def test_bad_overrides(body, expected, write, paths):
    assert expected in message(write('w.sdf', world(body)), model_paths=paths)


def test_unknown_element_of_an_include_is_warned_about(write, paths):
    path = write('w.sdf', world(include('arm', '<psoe>1 0 0 0 0 0</psoe>')))
    assert "<psoe> in <include> is not SDFormat and is ignored (did you mean 'pose'?)" in str(
        read(path, model_paths=paths).warnings[0])


# what is included

@pytest.mark.parametrize('content, expected', [
    (sdf(''), 'holds no <model> to include'),
    (sdf(ARM + '\n<model name="other"><link name="l"/></model>'),
     "part.sdf:3: model 'other': a file that is included holds one model, and model 'arm' is"),
    (sdf(ARM + '<light name="sun" type="point"/>'), "light 'sun': a file that is included holds"),
    ('<html/>', 'the root element is <html>, and only <sdf> and <robot> can be included'),
    ('<robot name="r">\n<link name="a"/><link name="b"/></robot>',
     "part.sdf:2: robot 'r': besides the root link 'a' no joint holds 'b'"),
    ('garbage', 'part.sdf:1: not XML'),
    (sdf('<model name="m"><link name="a"><pose>x</pose></link></model>'),
     "part.sdf:2: link 'a': <pose> 'x'"),
])
def test_bad_included_file(content, expected, write):
    """What is wrong is said once, though the file is included three times."""
    write('part.sdf', content)
    path = write('w.sdf', world('\n'.join(
        include('part.sdf', f'<name>m{i}</name>') for i in range(3))))
    first = message(path).splitlines()[0]
    assert expected in first and f'{path}:3' in first
    assert len(message(path).splitlines()) == (3 if 'no <model>' in expected else 1)


def test_error_names_the_whole_way_to_it(write):
    bad = write('c.sdf', sdf('<model name="c">\n<link name="l"><pose>x</pose></link></model>'))
    mid = write('b.sdf', sdf('<model name="b">' + include('c.sdf') + '</model>'))
    path = write('a.sdf', world('\n' + include('b.sdf')))
    assert message(path).startswith(f"{bad}:3: link 'l': <pose> 'x'")
    assert message(path).endswith(f'(included from {mid}:2) (included from {path}:4)')


def test_names_in_a_missing_model_are_not_called_wrong(write):
    path = write('a.sdf', sdf('<model name="m">' + include('nope.sdf') + '<joint name="j" '
                 'type="fixed"><parent>world</parent><child>nope::l</child></joint></model>'))
    assert len(message(path).splitlines()) == 1


# bounds

def test_circles_are_refused_with_their_files(write):
    a = write('a.sdf', sdf('<model name="a"><link name="l"/>' + include('b.sdf') + '</model>'))
    b = write('b.sdf', sdf('<model name="b">' + include('./a.sdf') + '</model>'))
    text = message(a)
    assert f'<include> runs in a circle: {a} -> {b} -> {a.parent}/a.sdf' in text
    assert '\n' not in text
    own = write('own.sdf', sdf('<model name="a">' + include('own.sdf') + '</model>'))
    assert f'runs in a circle: {own} -> {own}' in message(own)


def test_circle_through_a_symbolic_link_is_seen(write, tmp_path):
    a = write('a.sdf', sdf('<model name="a">' + include('link/a.sdf') + '</model>'))
    (tmp_path / 'link').symlink_to(tmp_path)
    assert 'runs in a circle' in message(a)


def chain(write, times, deep, merge=''):
    """Write files that each include the next some times."""
    for i in range(deep):
        body = ''.join(include(f'{i + 1}.sdf', f'<name>m{k}</name>', merge) for k in range(times))
        write(f'{i}.sdf', sdf(f'<model name="m">{body}</model>'))
    write(f'{deep}.sdf', sdf(ARM))


def test_a_file_is_read_once(write, monkeypatch):
    chain(write, 100, 1)
    seen = []
    real = os.path.getsize
    monkeypatch.setattr(os.path, 'getsize', lambda path: seen.append(path) or real(path))
    assert len(assemble(read(write('w.sdf', world(include('0.sdf'))))).links) == 200
    assert len(seen) == 2


def test_billion_laughs_are_refused_soon(write):
    chain(write, 10, 10)
    start = time.process_time()
    assert 'the included files hold more than 100000 elements' in message(
        write('w.sdf', world(include('0.sdf'))))
    assert time.process_time() - start < 2


def test_depth_of_includes_is_bounded(write):
    chain(write, 1, 29)
    assert len(assemble(read(write('w.sdf', world(include('0.sdf'))))).links) == 2
    chain(write, 1, 40)
    assert 'files include each other more than 30 deep' in message(
        write('w.sdf', world(include('0.sdf'))))


def test_depth_of_elements_is_bounded_over_all_files(write):
    deep = 20
    for i in range(6):
        body = include(f'{i + 1}.sdf') if i < 5 else '<link name="l"/>'
        for k in range(deep):
            body = f'<model name="m{k}">{body}</model>'
        write(f'{i}.sdf', sdf(body))
    assert 'elements nest more than 100 deep with what is included' in message(
        write('w.sdf', world(include('0.sdf'))))


def test_huge_file_is_not_read(write):
    path = write('huge.sdf', '')
    os.truncate(path, 200_000_000)
    assert 'is larger than 100 MB' in message(write('w.sdf', world(include('huge.sdf'))))


# merge

def merged(rest='', uri='arm'):
    return include(uri, rest, 'merge="true"')


def test_merge_moves_children_and_leaves_a_frame(write, paths):
    path = write('m.sdf', sdf('<model name="m">' + merged('<pose>0 2 0 0 0 1.5707963267948966'
                 '</pose>') + '<link name="own"/></model>'))
    root = read(path, model_paths=paths)
    model, = root.models
    assert [link.name for link in model.links] == ['base', 'hand', 'own']
    frame, = model.frames
    assert (frame.name, frame.attached_to) == ('_merged__arm__model__', 'base')
    assert positions(root) == {'m::base': [0, 2, 0], 'm::hand': [0, 3, 0], 'm::own': [0, 0, 0]}


def test_merge_with_placement_frame_and_turned_pose(write, paths):
    rest = '<placement_frame>hand</placement_frame><pose degrees="true">0 2 0 0 0 90</pose>'
    root = read(write('m.sdf', sdf(f'<model name="m">{merged(rest)}</model>')),
                model_paths=paths)
    assert positions(root) == {'m::base': [0, 1, 0], 'm::hand': [0, 2, 0]}


EYE = ('<model name="eye"><static>true</static><self_collide>1</self_collide>'
       '<frame name="f"/><frame name="g" attached_to="__model__">'
       '<pose relative_to="__model__">0 1 0 0 0 0</pose></frame>'
       '<link name="a"><pose relative_to="g">0 0 1 0 0 0</pose><collision name="c">'
       '<pose relative_to="__model__">0 0 5 0 0 0</pose><geometry><sphere/></geometry></collision>'
       '</link><link name="b"/><model name="n"><link name="l"><pose relative_to="__model__">1 0 0 '
       '0 0 0</pose></link></model><joint name="j" type="revolute"><parent>__model__</parent>'
       '<child>b</child><axis><xyz expressed_in="__model__">1 0 0</xyz></axis></joint></model>')


def test_merge_redirects_what_named_the_model(write, paths):
    """Collisions too, which libsdformat forgets; a nested model keeps its own __model__."""
    write('library/eye.sdf', sdf(EYE))
    root = read(write('m.sdf', sdf('<model name="m">' + merged(
        '<pose degrees="true">7 0 0 0 0 90</pose>', 'eye.sdf') + '</model>')), model_paths=paths)
    assembly = assemble(root)
    assert positions(root) == {
        'm::a': [6, 0, 1], 'm::b': [7, 0, 0], 'm::n::l': [7, 1, 0]}
    link = assembly.links[0]
    np.testing.assert_allclose(link.T_WL.p + link.T_WL.R @ link.collisions[0].T_LS.p, [7, 0, 5],
                               atol=ROUNDOFF)
    np.testing.assert_allclose(assembly.joints[0].axes[0], [1, 0, 0], atol=ROUNDOFF)
    assert assembly.joints[0].parent == 0
    static, self_collide = map(str, root.warnings)
    assert '<static> is lost' in static and '<self_collide> is lost' in self_collide


def test_merge_into_a_world(write, paths):
    write('library/pair.sdf', sdf(
        '<model name="pair">' + include('arm', '<name>a</name>') + '<frame name="f"/></model>'))
    root = read(write('w.sdf', world(merged('<pose>0 0 9 0 0 0</pose>', 'pair.sdf'))),
                model_paths=paths)
    assert [frame.attached_to for frame in root.worlds[0].frames] == [
        'a::base', '_merged__pair__model__']
    assert positions(root)['a::base'] == [0, 0, 12]


@pytest.mark.parametrize('body, expected', [
    (f'<world name="w">{merged()}</world>', "arm.sdf:2: link 'base': a <link> can't be merged "
                                            'into a world'),
    (merged(), 'only a model can be merged, and only into a model or a world (here: <model> into '
               '<sdf>)'),
    (f'<model name="m"><link name="hand"/>\n{merged()}</model>',
     "link 'hand' has the name of the link in line 2 of "),
    ('<model name="m"><link name="x"/>' + merged('<pose/><placement_frame>hnd</placement_frame>')
     + '</model>', "placement_frame 'hnd' is not in it (did you mean 'hand'?)"),
    ('<model name="m"><link name="outer"/>' + merged('', 'leaks.sdf') + '</model>',
     "relative_to 'outer' is not in model 'leaks'"),
    ('<world name="w">' + merged('', 'sun.sdf') + '</world>', '(here: <light> into <world>)'),
])
def test_bad_merges(body, expected, write, paths):
    write('library/leaks.sdf', sdf('<model name="leaks"><link name="l"><pose relative_to="outer"/>'
                                   '</link></model>'))
    write('library/sun.sdf', sdf('<light name="sun" type="point"/>'))
    assert expected in message(write('m.sdf', sdf(body)), model_paths=paths)


# <experimental:params>

def changed(change):
    return world(include('arm', f'<experimental:params>\n{change}\n</experimental:params>'))


def test_params_change_what_is_included(write, paths):
    root = read(write('w.sdf', changed(
        '<link element_id="hand"><pose action="modify">0 4 0 0 0 0</pose></link>'
        '<link element_id="" name="new" action="add"><pose>0 0 1 0 0 0</pose></link>'
        '<joint element_id="j" action="remove"/>'
        '<link element_id="base" name="base" action="replace"><gravity>true</gravity></link>')),
        model_paths=paths)
    assert positions(root) == {
        'arm::base': [0, 0, 3], 'arm::hand': [0, 4, 3], 'arm::new': [0, 0, 4]}
    assert not assemble(root).joints


@pytest.mark.parametrize('change, expected', [
    ('<link/>', "w.sdf:4: <experimental:params>: <link> '': needs an attribute 'element_id'"),
    ('<link element_id="hnd" action="remove"/>',
     "there is no link 'hnd' in model 'arm' (did you mean 'hand'?)"),
    ('<visual element_id="hnd" name="v" action="add"/>', "there is no 'hnd' in model 'arm'"),
    ('<link element_id="a::" action="remove"/>', "element_id ends in '::'"),
    ('<link element_id="hand" action="rm"/>', "action 'rm' is unknown"),
    ('<link element_id="hand"><gravity>0</gravity></link>',
     "<gravity> needs an attribute 'action'"),
    ('<link element_id="" action="add"/>', "<link> needs an attribute 'name'"),
    ('<link element_id="" name="" action="add"/>', "attribute 'name' of <link> is empty"),
    ('<link element_id="" name="hand" action="add"/>', "model 'arm' already has a link 'hand'"),
    ('<axis element_id="" action="add"/>', "<axis> has no place in model 'arm'"),
    ('<link element_id="hand" action="modify" colour="red"/>', "<link> has no attribute 'colour'"),
    ('<link element_id="hand" action="modify"><inertial/></link>', 'there is no <inertial> in'),
])
def test_bad_params(change, expected, write, paths):
    assert expected in message(write('w.sdf', changed(change)), model_paths=paths)


URDF = """<robot name="r"><link name="a"/>
<link name="b"><inertial><mass value="2"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="fixed"><parent link="a"/><child link="b"/><origin xyz="1 0 0"/></joint>
</robot>"""


@pytest.mark.parametrize('merge', ['false', 'true'])
def test_urdf_is_included_as_a_model(merge, write):
    write('r.urdf', URDF)
    path = write('a.sdf', sdf('<model name="m"><link name="l"/>' + include(
        'r.urdf', '<pose>0 0 1 0 0 0</pose>', f'merge="{merge}"') + '</model>'))
    scope = '' if merge == 'true' else 'r::'
    assert positions(read(path)) == {
        'm::l': [0, 0, 0], f'm::{scope}a': [0, 0, 1], f'm::{scope}b': [1, 0, 1]}


def test_bad_urdf_that_is_included_has_the_code_of_libsdformat(write):
    write('r.urdf', URDF.replace('child link="b"', 'child link="c"'))
    root, report = examine(write('w.sdf', world(include('r.urdf'))))
    assert report.errors[0].code == 'PARSING_ERROR' and report.errors[0].is_fatal
    assert report.errors[0].location.file.endswith('r.urdf')


def test_a_missing_include_hides_no_other_mistake(write):
    """Whatever stood beside it was not looked at."""
    path = write('a.sdf', sdf(
        '<model name="m"><link name="a"/><link name="b"/>\n' + include('gone.sdf')
        + """
<joint name="j" type="revolute"><parent>a</parent><child>b</child>
<axis><mimic joint="no"><multiplier>1</multiplier></mimic></axis></joint>
<frame name="f" attached_to="c"/>
<frame name="g" attached_to="gone::l"/>
</model>"""))
    said = message(path)
    assert [line.partition(' (')[0].split(':')[1] for line in said.splitlines()] == [
        '3', '5', '6']
    assert "there is no joint 'no'" in said and "attached_to 'c' is not in model 'm'" in said


def test_a_missing_include_explains_names_through_models_and_all_of_a_merge(write):
    path = write('a.sdf', sdf(
        '<model name="m"><link name="a"/>\n<model name="s"><link name="l"/>' + include('gone.sdf')
        + '<frame name="f" attached_to="gone::x"/></model>\n'
        + '<frame name="f" attached_to="s::gone::x"/></model>'))
    assert len(message(path).splitlines()) == 1
    path = write('b.sdf', sdf(
        '<model name="m"><link name="a"/>\n' + include('gone.sdf', attributes='merge="true"')
        + '<frame name="f" attached_to="x"/></model>'))
    assert len(message(path).splitlines()) == 1


def test_bad_values_of_an_include_are_said_beside_a_missing_file(write):
    root, report = examine(write('w.sdf', world(include('gone.sdf', '<pose>1 2</pose>'))))
    assert [error.code for error in report.errors] == ['ELEMENT_INVALID', 'URI_LOOKUP']
    assert not any(error.is_fatal for error in report.errors)


def test_bad_values_of_params_do_not_stop_the_reading(write):
    write('arm.sdf', sdf(ARM))
    root, report = examine(write('w.sdf', world(include(
        'arm.sdf', '<experimental:params><link element_id="hand" action="modify">'
        '<pose>1 2</pose></link></experimental:params>'))))
    (error,) = report.errors
    assert error.code == 'ELEMENT_INVALID' and not error.is_fatal
