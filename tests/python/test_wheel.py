"""The wheel: built from a copy of the sources and installed with pip, as a user would."""
import os
import re
import shutil
import subprocess
import sys
import zipfile

import pytest
from helpers import ROOT

pytestmark = pytest.mark.skipif('LD_PRELOAD' in os.environ, reason='pip does not build with a sanitizer')

# As the preset ci compiles, so that a compiler cache has most of it.
QUICK = ('-DCMAKE_BUILD_TYPE=Debug "-DCMAKE_CXX_FLAGS_DEBUG=-O1 -g1" -DWAYMARK_FMT_HEADERS=OFF -DWAYMARK_QUICK_BUILD=ON '
         '-DWAYMARK_WERROR=ON')
SOURCES = ('CMakeLists.txt', 'LICENSE', 'MANIFEST.in', 'README.md', 'CHANGELOG.md', 'pyproject.toml', 'setup.py', 'cmake',
           'compat', 'examples', 'include', 'man', 'python', 'samples', 'src', 'tools')
SHOW = """
import importlib.metadata, sys, waymark
with waymark.open(sys.argv[1]) as capture:
    elements = capture.elements()
    print(waymark.__file__)
    print(importlib.metadata.version('waymark'))
    print(int(elements[elements['kind'] == waymark.Kind.RANGE]['count'].sum()))
"""


def project_version():
    return re.search(r'^project\(waymark VERSION ([0-9.]+)', (ROOT / 'CMakeLists.txt').read_text(), re.M).group(1)


def run(*command, **options):
    environment = {name: value for name, value in os.environ.items() if name != 'PYTHONPATH'}
    done = subprocess.run([str(word) for word in command], env={**environment, 'CMAKE_ARGS': QUICK, 'PIP_NO_INDEX': '1'},
                          capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


@pytest.fixture(scope='module')
def tree(tmp_path_factory):
    """A copy of the sources, in which both builds share their objects."""
    copy = tmp_path_factory.mktemp('sources')
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns('__pycache__', '*.egg-info'))
        else:
            shutil.copy(ROOT / name, copy / name)
    return copy


@pytest.fixture(scope='module')
def venv(tmp_path_factory):
    folder = tmp_path_factory.mktemp('venv')
    run(sys.executable, '-m', 'venv', '--system-site-packages', folder)
    return folder / 'bin/python'


@pytest.fixture(scope='module')
def installed(tree, venv):
    """The Python of a virtual environment in which pip installed the module."""
    run(venv, '-m', 'pip', 'install', '--no-build-isolation', '.', cwd=tree)
    return venv


def test_pip_installs_what_decodes_the_sample(installed, tmp_path):
    file, version, executed = run(installed, '-c', SHOW, ROOT / 'samples/quicksort', cwd=tmp_path).split()
    assert file.startswith(str(installed.parents[1]))
    assert version == project_version()
    assert executed == '44901'


def test_the_installed_module_is_typed(installed, tmp_path):
    program = tmp_path / 'program.py'
    program.write_text("import waymark\n\nwith waymark.open('x') as capture:\n    capture.pakets()\n")
    environment = {name: value for name, value in os.environ.items() if name != 'PYTHONPATH'}
    done = subprocess.run([sys.executable, '-m', 'mypy', '--cache-dir=' + os.devnull, '--python-executable', installed,
                           program], env=environment, capture_output=True, text=True, check=False)
    assert '"Capture" has no attribute "pakets"' in done.stdout, done.stdout + done.stderr


def test_a_wheel(tree, installed, tmp_path):
    run(installed, '-m', 'build', '--no-isolation', '--wheel', '--outdir', tmp_path, cwd=tree)
    [wheel] = tmp_path.glob('*.whl')
    assert re.fullmatch(rf'waymark-{re.escape(project_version())}-cp3\d+-cp3\d+-linux_\w+\.whl', wheel.name)
    with zipfile.ZipFile(wheel) as opened:
        names = set(opened.namelist())
        metadata = opened.read(f'waymark-{project_version()}.dist-info/METADATA').decode()
    package = {path.name for path in (ROOT / 'python/waymark').iterdir() if path.suffix in ('.py', '.pyi', '.typed')}
    package.add('py.typed')
    native = [name for name in names if re.fullmatch(r'waymark/_native\..*\.so', name)]
    assert len(native) == 1
    assert {name.removeprefix('waymark/') for name in names if name.startswith('waymark/')} == \
        package | {native[0].removeprefix('waymark/')}
    assert f'waymark-{project_version()}.dist-info/LICENSE' in names
    assert 'Requires-Dist: numpy' in metadata
    assert 'License: BSD-3-Clause' in metadata


def test_a_source_distribution_has_what_a_build_needs(tree, installed, tmp_path):
    run(installed, '-m', 'build', '--no-isolation', '--sdist', '--outdir', tmp_path, cwd=tree)
    [archive] = tmp_path.glob('*.tar.gz')
    shutil.unpack_archive(archive, tmp_path / 'unpacked')
    unpacked = tmp_path / f'unpacked/waymark-{project_version()}'
    run('cmake', '-S', unpacked, '-B', tmp_path / 'configured', '-G', 'Ninja', '-DWAYMARK_PYTHON=ON',
        '-DWAYMARK_TESTS=OFF', '-DWAYMARK_VIEW=OFF')
    for folder in ('include', 'src', 'python', 'tools'):
        for path in (tree / folder).rglob('*'):
            # A build adds these.
            if path.is_file() and '.egg-info' not in str(path):
                assert (unpacked / path.relative_to(tree)).is_file(), path
