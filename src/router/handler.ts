import type { CronPayload, TimerPayload } from "../events/own.ts";
import type { Context } from "./context.ts";

/**
 * Handles one event. If the handler throws, the bot runs it again later. `X` holds the fields that middleware added to
 * the context.
 */
export type Handler<T extends string = string, X = unknown> = (context: Context<T> & X) => unknown;

/**
 * Runs around handlers. `next` runs the rest of the chain; if `next` is not called, the event ends here. Middleware
 * that returns the result of `next({ user })` adds the field to the context of later handlers.
 */
export type Middleware<T extends string = string, X = unknown, R = unknown> = (
  context: Context<T> & X,
  next: Next,
) => R;

/** Runs the rest of the chain, once. */
export interface Next {
  (): Promise<Passed<unknown>>;
  /** @param fields fields to add to the context. INVALID_OPTION if the context already has a field with that name */
  <A extends object>(fields: A): Promise<Passed<A>>;
}

/** Result of `next(fields)`. Exists only as a type, which carries the fields to the handlers after the middleware. */
// biome-ignore lint/suspicious/noConfusingVoidType: middleware may still declare next as () => Promise<void>.
export type Passed<A> = void & { readonly "~fields"?: A };

/** Fields added by middleware that returns `R`; `unknown` if none. */
export type FieldsOf<R> = [PassedIn<Awaited<R>>] extends [never] ? unknown : PassedIn<Awaited<R>>;

type PassedIn<V> = V extends Passed<infer A> ? A : never;

/** Observes handlers' errors. The retry policy decides what happens to the event. */
export type ErrorObserver<X = unknown> = (error: unknown, context: Context & Partial<X>) => unknown;

/**
 * Handles an event whose last run failed, and may reply to the event. Middleware fields may be missing, because the run
 * may have failed before the middleware.
 */
export type Boundary<T extends string = string, X = unknown> = (
  error: unknown,
  context: Context<T> & Partial<X>,
) => unknown;

/**
 * Context for an event type that this version does not know, or for a timer or cron. A schema determines the payload.
 */
export interface CustomContext<T extends string, P> extends Omit<Context<T>, "payload"> {
  /** Payload as the schema returns it. `event.payload` is the payload as it arrived. */
  readonly payload: P;
}

/** Context of `onTimer`. */
export type TimerContext<N extends string = string, D = unknown> = CustomContext<
  `timer:${N}`,
  TimerPayload<D>
>;

/** Context of `cron`. */
export type CronContext<N extends string = string> = CustomContext<`cron:${N}`, CronPayload>;

/** State in the handlers' context, if the bot has the option `state`. */
export interface WithState<S> {
  /**
   * Returns the state of this conversation (the lane), or the state under another key. Change the object in place. The
   * bot stores it when the event is done.
   */
  state(key?: string): Promise<S>;
}
