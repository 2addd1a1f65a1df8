"""The ROS 2 node: the only room that imports rclpy or message packages."""
