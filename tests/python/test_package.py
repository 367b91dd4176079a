"""The package: stubs, docstrings, what Jupyter shows, plots, and the notebook of the examples."""
import inspect
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import waymark

ROOT = Path(__file__).resolve().parents[2]


def test_types_are_checked():
    done = subprocess.run([sys.executable, '-m', 'mypy', '--strict', '--cache-dir=' + os.devnull,
                           '--ignore-missing-imports', ROOT / 'python/waymark'],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_stubs_have_what_the_module_has():
    from waymark import _native
    text = (ROOT / 'python/waymark/_native.pyi').read_text()
    for name, value in vars(_native).items():
        if name.startswith('_'):
            continue
        assert name in text
        if isinstance(value, type):
            for member in vars(value):
                if not member.startswith('_'):
                    assert f'def {member}(' in text, f'{name}.{member}'


def test_objects_without_a_value_cannot_be_made():
    from waymark import _native
    classes = [value for value in vars(_native).values() if isinstance(value, type)]
    assert len(classes) >= 8
    for made in classes:
        for attempt in (made, lambda made=made: made.__new__(made), lambda made=made: object.__new__(made),
                        type('Below', (made,), {})):
            with pytest.raises(TypeError):
                attempt()


def test_everything_public_is_described():
    for name in waymark.__all__:
        value = getattr(waymark, name)
        if name in ('ELEMENT', 'Elements'):
            continue
        assert inspect.getdoc(value), name
        if inspect.isclass(value) and value.__module__.startswith('waymark'):
            for member, what in vars(value).items():
                if not member.startswith('_') and (callable(what) or isinstance(what, property)):
                    assert inspect.getdoc(what), f'{name}.{member}'


def test_what_jupyter_shows(capture):
    assert 'ETMV4I' in capture._repr_html_()
    assert '44,901' in capture.counts()._repr_html_()
    assert 'quicksort.elf' in capture.profile()._repr_html_()
    assert 'instructions' in capture.intervals('quicksort', 'quicksort')._repr_html_()


def test_plots(capture, tmp_path):
    import matplotlib
    matplotlib.use('Agg')
    axes = capture.plot_functions(5)
    assert len(axes.patches) == 5
    axes.figure.savefig(tmp_path / 'functions.png')
    axes = capture.intervals('quicksort', 'quicksort').plot()
    axes.figure.savefig(tmp_path / 'intervals.png')
    with pytest.raises(waymark.InvalidArgument, match='no intervals'):
        capture.intervals('quicksort', 'quicksort').plot('parsecs')


def test_the_notebook_runs(tmp_path, monkeypatch):
    nbformat = pytest.importorskip('nbformat')
    nbclient = pytest.importorskip('nbclient')
    for name in ('IPYTHONDIR', 'JUPYTER_DATA_DIR', 'JUPYTER_RUNTIME_DIR', 'MPLCONFIGDIR'):
        monkeypatch.setenv(name, str(tmp_path / name))
    notebook = nbformat.read(ROOT / 'examples/quicksort.ipynb', as_version=4)
    assert not any(cell.get('outputs') for cell in notebook.cells)
    nbclient.NotebookClient(notebook, timeout=120, kernel_name='python3',
                            resources={'metadata': {'path': ROOT / 'examples'}}).execute()
    shown = [output for cell in notebook.cells for output in cell.get('outputs', [])]
    assert any('image/png' in output.get('data', {}) for output in shown)
    assert any('text/html' in output.get('data', {}) for output in shown)


def test_the_example_counts_the_instructions_of_the_sample():
    done = subprocess.run([sys.executable, ROOT / 'examples/count_instructions.py'], cwd=ROOT, capture_output=True,
                          text=True, check=True)
    counted = [int(line.split()[0]) for line in done.stdout.splitlines() if line.endswith(' instructions')]
    assert sum(counted) == 44901
    assert 'quicksort' in done.stdout


def test_the_package_installs_alone(tmp_path):
    """Nothing in the package needs the folder that it was built in."""
    shutil.copytree(Path(waymark.__file__).parent, tmp_path / 'waymark')
    done = subprocess.run(
        [sys.executable, '-c', 'import waymark; print(waymark.__file__)'], cwd=tmp_path,
        env={**os.environ, 'PYTHONPATH': str(tmp_path)}, capture_output=True, text=True, check=True)
    assert done.stdout.startswith(str(tmp_path))
