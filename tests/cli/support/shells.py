"""Interactive shells in a terminal, to complete command lines as a user does."""
import os
import pty
import re
import select
import shutil
import subprocess
import termios

from .programs import HANG_SECONDS

# How to start a shell without a user's settings.
START = {
    'bash': ('bash', '--norc', '--noprofile', '-i'),
    'zsh': ('zsh', '-f', '-i'),
}
# Ctrl-T prints the line as it is now, between << and >>.
SETUP = {
    'bash': r"""
PS1= PS2= ; unset PROMPT_COMMAND
bind 'set show-all-if-ambiguous on'; bind 'set bell-style none'; bind 'set page-completions off'
bind 'set completion-query-items 0'; bind 'set enable-bracketed-paste off'; bind 'set colored-stats off'
bind -x '"\C-t": printf "\n<<%s>>\n" "$READLINE_LINE"'
source {share}/bash-completion/completions/waymark
""",
    'zsh': r"""
PS1= PS2= RPS1= ; unsetopt prompt_cr prompt_sp beep list_ambiguous; LISTMAX=10000; stty -echo
fpath=({share}/zsh/site-functions $fpath); autoload -Uz compinit; compinit -D -u
zstyle ':completion:*' list-colors ''; zstyle ':completion:*' menu no
_show() { print -r -- $'\n<<'"$BUFFER"'>>' }; zle -N _show; bindkey -e; bindkey '^T' _show
""",
}
ESCAPES = re.compile(r'\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\r|\x07')


class Shell:
    """complete(TEXT) types TEXT and a tab; gives the resulting line and the listed candidates."""

    def __init__(self, name, share, folder, home, path):
        self.parent, terminal = pty.openpty()
        import fcntl
        import struct
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack('HHHH', 500, 200, 0, 0))
        environment = {'HOME': str(home), 'PATH': f'{path}:{os.environ["PATH"]}', 'TERM': 'dumb' if name == 'bash' else 'xterm',
                       'LC_ALL': 'C.UTF-8', 'ZDOTDIR': str(home)}
        self.process = subprocess.Popen(START[name], cwd=folder, env=environment, stdin=terminal, stdout=terminal,
                                        stderr=terminal, start_new_session=True)
        os.close(terminal)
        self.seen = ''
        self.send(SETUP[name].replace('{share}', str(share)) + 'echo "shell "ready\n')
        self.read_to('shell ready\n')

    def send(self, text):
        os.write(self.parent, text.encode())

    def read_to(self, text):
        """The output of the shell up to `text`."""
        while text not in self.seen:
            ready, _, _ = select.select([self.parent], [], [], HANG_SECONDS)
            assert ready, f'the shell hangs; it printed {self.seen!r}'
            self.seen += ESCAPES.sub('', os.read(self.parent, 65536).decode(errors='replace'))
        before, _, self.seen = self.seen.partition(text)
        return before

    def complete(self, text):
        self.send(text + '\t\x14')
        listed = self.read_to('\n<<')
        line = self.read_to('>>')
        # Ctrl-U empties the line; its output does not belong to the next line.
        self.send('\x15\x14')
        self.read_to('<<>>')
        return line, listed.replace(text.strip(), '\n')

    def close(self):
        os.close(self.parent)
        self.process.wait(timeout=HANG_SECONDS)


class Fish:
    """Like Shell, but with fish's own interface for tests, which prints candidates and not the line."""

    def __init__(self, share, folder, home, path):
        self.environment = {'HOME': str(home), 'PATH': f'{path}:{os.environ["PATH"]}', 'TERM': 'dumb', 'LC_ALL': 'C.UTF-8',
                            'XDG_CONFIG_HOME': str(home / 'config'), 'XDG_DATA_DIRS': str(share)}
        self.folder = folder

    def complete(self, text):
        quoted = text.replace('\\', '\\\\').replace("'", "\\'")
        result = subprocess.run(['fish', '-c', f"complete -C '{quoted}'"], cwd=self.folder, env=self.environment,
                                capture_output=True, text=True, timeout=HANG_SECONDS, check=True)
        assert not result.stderr, result.stderr
        words = [line.split('\t')[0] for line in result.stdout.splitlines()]
        begun = text[:len(text) - len(text.split(' ')[-1])]
        # A single candidate is accepted, as with the tab key.
        line = begun + words[0] + ('' if words[0][-1] in '/=' else ' ') if len(words) == 1 else text
        return line, result.stdout

    def close(self):
        pass


def open_shell(name, share, folder, home, path):
    return Fish(share, folder, home, path) if name == 'fish' else Shell(name, share, folder, home, path)


def is_installed(name):
    return shutil.which(name) is not None
