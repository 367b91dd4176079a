// Text that comes from a capture. It is data: it is only ever shown with textContent or fillText.
import type { FunctionRow } from './api';

/** No text on the page is longer. */
export const longest = 4096;

/**
 * Makes control and direction characters visible, so that a name can neither hide nor reorder what
 * is next to it, and cuts what is too long.
 */
export function visible(text: unknown, limit = longest): string {
  if (typeof text !== 'string') return '';
  const cut = text.length > limit ? text.slice(0, limit) + '…' : text;
  return cut.replace(
    /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g,
    (c) => {
      const code = c.charCodeAt(0);
      return `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`;
    },
  );
}

export interface FunctionName {
  number: number;
  name: string;
  program: string;
  kind: string;
}

const nobody: FunctionName = { number: -1, name: '(not known)', program: '', kind: 'unknown' };

/** The functions that any answer has named so far. */
export class FunctionNames {
  private readonly known = new Map<number, FunctionName>();

  add(rows: FunctionRow[] | undefined): void {
    for (const [number, name, program, kind] of rows ?? []) {
      if (this.known.has(number)) continue;
      this.known.set(number, {
        number,
        name: visible(name, 1024) || '(no name)',
        program: visible(program, 1024),
        kind: visible(kind, 40),
      });
    }
  }

  get(number: number): FunctionName {
    return this.known.get(number) ?? nobody;
  }

  has(number: number): boolean {
    return this.known.has(number);
  }

  /** The number of a function by its name and program; undefined: no answer named it yet. */
  numberOf(name: string, program = ''): number | undefined {
    for (const entry of this.known.values()) {
      if (entry.name === name && (!program || entry.program === program)) return entry.number;
    }
    return undefined;
  }
}

/** The last part of a path. */
export function fileName(path: string): string {
  const parts = path.split('/');
  return parts[parts.length - 1] || path;
}
