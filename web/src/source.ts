// Where answers come from: a server, or the report file itself.
import type { Answers, Compare, Coverage, Question, Timeline } from './api';

export type Params = Record<string, string | number | undefined>;

export interface Reply<T> {
  value: T;
  /** A sentence, if the answer is not quite to this question; else empty. */
  note: string;
}

export interface AskOptions {
  signal?: AbortSignal;
  /** A later question with the same key makes the server forget this one. */
  key?: string;
}

export interface TimelineQuestion {
  from: number;
  to: number;
  width: number;
}

export interface Source {
  readonly kind: 'server' | 'report';
  ask<K extends Question>(name: K, params?: Params, options?: AskOptions): Promise<Reply<Answers[K]>>;
  timeline(question: TimelineQuestion, options?: AskOptions): Promise<Reply<Timeline>>;
  /** Two captures side by side; undefined: there is only one. */
  compare(): Compare | undefined;
  /** What of the source files was executed; undefined: it is not known. */
  coverage(): Coverage | undefined;
  /** The windows whose details a report holds; a server has all of them. */
  windows(): { from: number; to: number }[] | undefined;
}

export type FailureKind = 'cancelled' | 'gone' | 'busy' | 'refused' | 'missing';

/** A question without an answer. The message is a sentence for people. */
export class Failure extends Error {
  constructor(
    readonly kind: FailureKind,
    message: string,
  ) {
    super(message);
  }
}

export const isCancelled = (error: unknown): boolean =>
  error instanceof Failure && error.kind === 'cancelled';

export function sentence(error: unknown): string {
  if (error instanceof Failure) return error.message;
  return error instanceof Error ? `The page failed: ${error.message}` : 'The page failed.';
}
