#!/usr/bin/env python3
"""Makes the pages of the commands from their man pages.

Usage: command_pages.py MAN_FOLDER PAGE_FOLDER

The man pages come from the table of options. Each becomes PAGE_FOLDER/NAME.md. A page named index lists them.
"""
import pathlib
import re
import subprocess
import sys


def usage():
    sys.exit(__doc__.strip().splitlines()[2])


def fragment(path):
    """A man page as HTML, its headings one level lower, without the lines at its top and bottom."""
    html = subprocess.run(["mandoc", "-T", "html", "-O", "fragment", str(path)], check=True,
                          capture_output=True, text=True).stdout
    html = re.sub(r'<table class="(?:head|foot)">.*?</table>\n?', "", html, flags=re.S)
    html = re.sub(r'<a class="permalink"[^>]*>(.*?)</a>', r"\1", html, flags=re.S)
    for level in (2, 1):
        html = re.sub(rf"(</?h){level}\b", rf"\g<1>{level + 1}", html)
    return html


def summary(html):
    """The words after the dash in the section NAME."""
    text = re.search(r'id="NAME".*?<p class="Pp">(.*?)</p>', html, flags=re.S).group(1)
    text = " ".join(re.sub(r"<[^>]*>", "", text).split())
    return text.split(" - ", 1)[1]


def with_links(html, names):
    """NAME(1) of a page of this folder becomes a link."""
    def link(match):
        name = match.group(1)
        return f'<a href="{name}.html">{match.group(0)}</a>' if name in names else match.group(0)
    return re.sub(r"<b>([\w-]+)</b>\(1\)", link, html)


def main():
    if len(sys.argv) != 3:
        usage()
    pages = {path.stem: fragment(path) for path in pathlib.Path(sys.argv[1]).glob("*.1")}
    folder = pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    # `waymark` first; a command before those that belong to it.
    order = sorted(pages, key=lambda name: (not name.startswith("waymark"), name))
    rows = []
    for name in order:
        title = re.sub(r"(?<=\w)-", " ", name) if name.startswith("waymark-") else name
        text = f"# {title}\n\n```{{raw}} html\n{with_links(pages[name], pages)}```\n"
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
        rows.append(f"| [`{title}`]({name}.md) | {summary(pages[name])} |")
    toctree = "```{toctree}\n:hidden:\n" + "\n".join(order) + "\n```"
    (folder / "index").with_suffix(".md").write_text(
        "# Commands\n\n| Command | What it does |\n|---|---|\n" + "\n".join(rows) + f"\n\n{toctree}\n",
        encoding="utf-8")


if __name__ == "__main__":
    main()
