import type { CronPayload, TimerPayload } from "../events/own.ts";
import type { Context } from "./context.ts";

/**
 * Handles one event. An event whose handler throws is tried again later.
 *
 * @typeParam X fields that middleware has added to the context
 */
export type Handler<T extends string = string, X = unknown> = (context: Context<T> & X) => unknown;

/**
 * Runs around handlers; `next` runs the rest of the chain. Without `next` the event ends here. A middleware that returns
 * the result of `next({ user })` adds the field to the context of what comes after it.
 */
export type Middleware<T extends string = string, X = unknown, R = unknown> = (
  context: Context<T> & X,
  next: Next,
) => R;

/** Runs the rest of the chain, once. */
export interface Next {
  (): Promise<Passed<unknown>>;
  /** @param fields added to the context. A name that the context has by itself is refused with INVALID_OPTION */
  <A extends object>(fields: A): Promise<Passed<A>>;
}

/** The result of `next(fields)`: nothing but a type, which carries the fields to what comes after the middleware. */
// biome-ignore lint/suspicious/noConfusingVoidType: middleware may still declare next as () => Promise<void>.
export type Passed<A> = void & { readonly "~fields"?: A };

/** The fields that a middleware with the result `R` adds; `unknown` if none. */
export type FieldsOf<R> = [PassedIn<Awaited<R>>] extends [never] ? unknown : PassedIn<Awaited<R>>;

type PassedIn<V> = V extends Passed<infer A> ? A : never;

/** Gets the errors of handlers. The retry policy decides about the event. */
export type ErrorObserver<X = unknown> = (error: unknown, context: Context & Partial<X>) => unknown;

/**
 * Has the last word on an event that no further run will handle: it may answer. Fields of middleware may be missing, because
 * the run may have ended before.
 */
export type Boundary<T extends string = string, X = unknown> = (
  error: unknown,
  context: Context<T> & Partial<X>,
) => unknown;

/** The context of a type that this version does not know, or of a name that the bot gave: the payload is what a schema says. */
export interface CustomContext<T extends string, P> extends Omit<Context<T>, "payload"> {
  /** As the schema returns it. `event.payload` is as the event came. */
  readonly payload: P;
}

/** The context of `onTimer`. */
export type TimerContext<N extends string = string, D = unknown> = CustomContext<
  `timer:${N}`,
  TimerPayload<D>
>;

/** The context of `cron`. */
export type CronContext<N extends string = string> = CustomContext<`cron:${N}`, CronPayload>;

/** The state of a bot with the option `state`, in the context of its handlers. */
export interface WithState<S> {
  /**
   * The state of this conversation (the lane), or of another key. Changed in place, and written when the event is done.
   */
  state(key?: string): Promise<S>;
}
