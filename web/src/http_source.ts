// Answers from `waymark view`.
import type { Answers, Compare, Coverage, Question, Timeline } from './api';
import { timelineFromBinary, timelineFromJson } from './binary';
import { visible } from './names';
import { AskOptions, Failure, Params, Reply, Source, TimelineQuestion } from './source';

const goneText =
  'The viewer does not answer. If “waymark view” has ended, start it again and open the address that it prints.';

const busyTries = 4;

export class HttpSource implements Source {
  readonly kind = 'server';
  /** Tells the questions of this page from those of others. */
  private readonly client = Math.random().toString(36).slice(2, 10);

  constructor(private readonly base = 'api/1/') {}

  async ask<K extends Question>(
    name: K,
    params: Params = {},
    options: AskOptions = {},
  ): Promise<Reply<Answers[K]>> {
    const response = await this.fetched(name, params, options);
    return { value: (await this.body(response, 'json')) as Answers[K], note: '' };
  }

  async timeline(question: TimelineQuestion, options: AskOptions = {}): Promise<Reply<Timeline>> {
    const response = await this.fetched('timeline', { ...question, format: 'binary' }, options);
    const type = response.headers.get('content-type') ?? '';
    const value = type.includes('json')
      ? timelineFromJson(await this.body(response, 'json'))
      : timelineFromBinary((await this.body(response, 'bytes')) as ArrayBuffer);
    return { value, note: '' };
  }

  compare(): Compare | undefined {
    return undefined;
  }

  coverage(): Coverage | undefined {
    return undefined;
  }

  windows(): undefined {
    return undefined;
  }

  private url(name: string, params: Params, key: string | undefined): string {
    const query = new URLSearchParams();
    for (const [field, value] of Object.entries(params)) {
      if (value !== undefined) query.set(field, String(value));
    }
    if (key) query.set('cancel', `${this.client}-${key}`);
    const text = query.toString();
    return this.base + name + (text ? '?' + text : '');
  }

  private async fetched(name: string, params: Params, options: AskOptions): Promise<Response> {
    for (let tries = 1; ; tries++) {
      const init: RequestInit = { cache: 'no-store', credentials: 'omit', redirect: 'error' };
      if (options.signal) init.signal = options.signal;
      let response: Response;
      try {
        response = await fetch(this.url(name, params, options.key), init);
      } catch (error) {
        throw failureOf(error);
      }
      if (response.ok) return response;
      if (response.status !== 503 || tries === busyTries) throw await refusal(response);
      await pause(150 * tries, options.signal);
    }
  }

  private async body(response: Response, form: 'json' | 'bytes'): Promise<unknown> {
    try {
      return form === 'json' ? await response.json() : await response.arrayBuffer();
    } catch (error) {
      if (error instanceof SyntaxError) {
        throw new Failure('refused', 'The answer of the viewer is not valid. Report this as a bug.');
      }
      throw failureOf(error);
    }
  }
}

function failureOf(error: unknown): Failure {
  if (error instanceof DOMException && error.name === 'AbortError') {
    return new Failure('cancelled', 'The request was cancelled.');
  }
  return new Failure('gone', goneText);
}

async function refusal(response: Response): Promise<Failure> {
  let text = '';
  try {
    text = visible(((await response.json()) as { error?: unknown }).error);
  } catch {
    // The status says enough.
  }
  if (response.status === 503) {
    return new Failure('busy', text || 'The viewer is busy with other requests. Try again.');
  }
  if (response.status === 403) {
    return new Failure(
      'refused',
      text || 'The viewer refuses this address. Open the one that “waymark view” printed.',
    );
  }
  const kind = response.status === 404 ? 'missing' : 'refused';
  return new Failure(kind, text || `The viewer answered with status ${response.status}.`);
}

function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(new Failure('cancelled', 'The request was cancelled.'));
    });
  });
}
