"""Calibration: from measurements of a drive to a preset, with the error of each row and what could not be determined."""
