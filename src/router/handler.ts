import type { CronPayload, TimerPayload } from "../events/types.ts";
import type { Context, CustomContext } from "./context.ts";

/**
 * Handles one event. If the handler throws, the event is retried later. `X` is the type of the fields that middleware
 * adds to the context.
 */
export type Handler<T extends string = string, X = unknown> = (
  context: ContextOf<T> & X,
) => unknown;

/** `Context<T>`, split into one context per type, so that `ctx.is` narrows both branches of an `if`. */
export type ContextOf<T extends string> = { [K in T]: Context<K> }[T];

/**
 * Runs around handlers. `next` runs the rest of the chain. If middleware does not call `next`, the event ends here.
 * Middleware that returns the result of `next({ user })` adds the field to the context of later handlers.
 */
export type Middleware<T extends string = string, X = unknown, R = unknown> = (
  context: ContextOf<T> & X,
  next: Next,
) => R;

/** Runs the rest of the chain. Call it only once. */
export interface Next {
  /** Runs the rest of the chain. */
  (): Promise<Passed<unknown>>;
  /**
   * Runs the rest of the chain with more fields in the context.
   *
   * @param fields added to the context. INVALID_OPTION if the context already has a field with the same name
   */
  <A extends object>(fields: A): Promise<Passed<A>>;
}

/** Result of `next(fields)`. Exists only as a type, which carries the fields to the handlers after the middleware. */
// biome-ignore lint/suspicious/noConfusingVoidType: middleware may still declare next as () => Promise<void>.
export type Passed<A> = void & {
  /** Never present. */
  readonly "~fields"?: A;
};

/** Fields added by middleware that returns `R`, or `unknown` if it adds none. */
export type FieldsOf<R> = [PassedIn<Awaited<R>>] extends [never] ? unknown : PassedIn<Awaited<R>>;

type PassedIn<V> = V extends Passed<infer A> ? A : never;

/** Observes errors thrown by handlers. The retry policy decides what happens to the event. */
export type ErrorObserver<X = unknown> = (error: unknown, context: Context & Partial<X>) => unknown;

/**
 * Handles an event whose last run failed, and may reply to it. Middleware fields may be missing, because the run may
 * have failed before reaching the middleware.
 */
export type Boundary<T extends string = string, X = unknown> = (
  error: unknown,
  context: ContextOf<T> & Partial<X>,
) => unknown;

/** Context of an `onTimer` handler. */
export type TimerContext<N extends string = string, D = unknown> = CustomContext<
  `timer:${N}`,
  TimerPayload<D>
>;

/** Context of a `cron` handler. */
export type CronContext<N extends string = string> = CustomContext<`cron:${N}`, CronPayload>;

/**
 * State in the handlers' context, if the bot has the `state` option: `state(key)` returns the state of this
 * conversation (the lane), or the state stored under another key. A mapped type, so that editors show the docstring of
 * `Context.state` in `Context & WithState`.
 */
export type WithState<S> = Record<"state", (key?: string) => Promise<S>>;
