"""A helper module: part of the build though the entry file does not change with it."""

import re


def find_code(text):
    found = re.search(r"\b[A-Z]{3,}-\d{2}\b", text)
    return found.group(0) if found else "unknown"
