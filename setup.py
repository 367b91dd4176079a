"""Builds the extension of the Python module with CMake; pyproject.toml has the rest.

The environment variable CMAKE_ARGS has further arguments for CMake. CMAKE_BUILD_PARALLEL_LEVEL limits the jobs.
"""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = pathlib.Path(__file__).resolve().parent
PACKAGE = 'waymark'
NATIVE = '_native'
# What the module uses: the sources of the command line, without its viewer and the programs.
OPTIONS = [
    '-DCMAKE_BUILD_TYPE=Release',
    '-DBUILD_SHARED_LIBS=OFF',
    '-DWAYMARK_COMPAT=OFF',
    '-DWAYMARK_FMT_HEADERS=ON',
    '-DWAYMARK_PYTHON=ON',
    '-DWAYMARK_TESTS=OFF',
    '-DWAYMARK_UNITE=ON',
    '-DWAYMARK_VIEW=OFF',
]


def version():
    return re.search(r'^project\(waymark VERSION ([0-9.]+)', (ROOT / 'CMakeLists.txt').read_text(), re.M).group(1)


class BuildWithCMake(build_ext):
    """Has CMake build the target waymark_python, and takes the stripped extension."""

    def build_extension(self, ext):
        build = pathlib.Path(self.build_temp).resolve()
        installed = build / 'installed'
        # pybind11 finds the headers of the Python that will load the module.
        self.cmake('-S', ROOT, '-B', build, '-G', 'Ninja', *OPTIONS, f'-DWAYMARK_PYTHON_PROGRAM={sys.executable}',
                   '-DWAYMARK_PYTHON_DIR=.', *shlex.split(os.environ.get('CMAKE_ARGS', '')))
        jobs = ['-j', str(self.parallel)] if self.parallel else []
        self.cmake('--build', build, '--target', 'waymark_python_package', *jobs)
        shutil.rmtree(installed, ignore_errors=True)
        self.cmake('--install', build, '--component', 'python', '--strip', '--prefix', installed)
        target = pathlib.Path(self.get_ext_fullpath(ext.name))
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(installed / PACKAGE / f'{NATIVE}.so', target)

    @staticmethod
    def cmake(*arguments):
        try:
            subprocess.run(['cmake', *map(str, arguments)], check=True)
        except FileNotFoundError:
            sys.exit('setup.py: cmake is missing. On Debian, ./scripts/install build python installs what the module needs.')
        except subprocess.CalledProcessError as error:
            sys.exit(f'setup.py: CMake failed with status {error.returncode}; the reason is above. '
                     'On Debian, ./scripts/install build python installs what the module needs.')


setup(version=version(), ext_modules=[Extension(f'{PACKAGE}.{NATIVE}', [])], cmdclass={'build_ext': BuildWithCMake})
