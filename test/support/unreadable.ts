/** Values that a handler may throw, log or return, and that fail when they are read. By name, new for each use. */

function fail(): never {
  throw new Error("from a getter");
}

function withGetter(...names: readonly string[]): Error {
  const error = new Error("fine");
  for (const name of names) Object.defineProperty(error, name, { get: fail });
  return error;
}

const failingTraps = new Proxy<ProxyHandler<object>>({}, { get: () => fail });

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable(new Error("gone"), {});
  revoke();
  return proxy;
}

function endlessCauses(): Error {
  const error = new Error("one of many");
  Object.defineProperty(error, "cause", { get: endlessCauses });
  return error;
}

function inItself(): Error {
  const error: Error & { errors?: unknown } = new AggregateError([], "around");
  error.errors = [error, error];
  error.cause = new Error("inner", { cause: error });
  return error;
}

export const unreadable: Readonly<Record<string, () => unknown>> = {
  "an error whose message throws": () => withGetter("message"),
  "an error whose stack throws": () => withGetter("stack"),
  "an error whose name throws": () => withGetter("name"),
  "an error whose code throws": () => withGetter("code"),
  "an error whose cause throws": () => withGetter("cause"),
  "an error whose fields all throw": () =>
    withGetter("message", "stack", "name", "code", "cause", "toString", "toJSON", "then", "errors"),
  "an error whose cause is a revoked proxy": () => new Error("outer", { cause: revoked() }),
  "a revoked proxy": revoked,
  "a proxy whose traps all throw": () => new Proxy(new Error("inside"), failingTraps),
  "a cause of itself": inItself,
  "causes without an end": endlessCauses,
  "texts that are no texts": () =>
    Object.assign(new Error("x"), { message: 5n, stack: [Symbol()], name: {}, code: Symbol("c") }),
  "a message that is no string when converted": () =>
    Object.assign(new Error("x"), { message: { [Symbol.toPrimitive]: () => ({}) } }),
  "a frozen error": () => Object.freeze(new Error("frozen")),
  "an object without a prototype": () => Object.create(null),
  "an object whose conversions throw": () => ({
    ...{ toString: fail, valueOf: fail, toJSON: fail, [Symbol.toPrimitive]: fail },
  }),
  "an object whose field throws": () =>
    Object.defineProperty({}, "a", { get: fail, enumerable: true }),
  undefined: () => undefined,
  null: () => null,
  "a symbol": () => Symbol("thrown"),
  "a bigint": () => 10n,
  "a function": () => () => "thrown",
  "a long text": () => "x".repeat(200_000),
  "an error with a long message": () => new Error("y".repeat(200_000)),
};
