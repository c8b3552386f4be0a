"""Tests against a running service: SWITCHYARD_ADDRESS and SWITCHYARD_KEY name it."""
