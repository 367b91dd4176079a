#!/usr/bin/env python3
"""Makes the page on which the site opens: docs/first-steps.md, and the menu of docs/site/index.md.in.

Usage: index_page.py SOURCE_FOLDER

The page is in the root of the site, so its links begin there. The copy of docs/first-steps.md is removed, and links to
it lead to the new page.
"""
import pathlib
import posixpath
import re
import sys

LINK = re.compile(r"(\]\()([^()#\s:]+)((?:#[^()\s]*)?\))")
PAGE = "docs/first-steps.md"
ROOT_PAGE = "index" + ".md"


def moved(text, folder, name):
    """The text of a page with links as they are in a page in the root; name: what that page is called."""
    def link(match):
        target = posixpath.normpath(posixpath.join(folder, match.group(2)))
        return match.group(1) + (name if target == PAGE else target) + match.group(3)
    return LINK.sub(link, text)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip().splitlines()[2])
    source = pathlib.Path(sys.argv[1])
    page = source / PAGE
    menu = (source / "docs/site/index.md.in").read_text(encoding="utf-8")
    text = moved(page.read_text(encoding="utf-8"), "docs", ROOT_PAGE)
    (source / ROOT_PAGE).write_text(text + menu, encoding="utf-8")
    page.unlink()
    # Other pages keep their places, so only links to the one that moved change.
    for other in source.rglob("*.md"):
        text = other.read_text(encoding="utf-8")
        folder = posixpath.dirname(other.relative_to(source).as_posix())
        changed = LINK.sub(lambda match: match.group(1) + posixpath.relpath(ROOT_PAGE, folder or ".") + match.group(3)
                           if posixpath.normpath(posixpath.join(folder, match.group(2))) == PAGE else match.group(0),
                           text)
        if changed != text:
            other.write_text(changed, encoding="utf-8")


if __name__ == "__main__":
    main()
