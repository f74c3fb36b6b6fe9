"""Calibration: fits a device preset to measurements of a drive, and reports the error of each row and undetermined values."""
