import { describe, expect, test } from "vitest";
import * as z from "zod";
import { createPlatform, startPlatform } from "../../src/platform/index.ts";
import { type Operation, operations } from "../faces/platform.ts";
import {
  type Accepted,
  type Argument,
  methodsOf,
  mistakesOf,
  optionsOf,
  type ValueKind,
} from "../support/wrong-values.ts";

const platform = createPlatform();
const { control } = platform;
const { apps, clock, inbox, snapshots } = control;

function text(name: string, call: (value: never) => unknown): Argument {
  return { name, accepts: ["string"], call };
}

/** An argument with these fields. The call gets `rest` for the other fields. */
function input(
  name: string,
  fields: Accepted,
  call: (value: never) => unknown,
  rest: object = {},
): Argument[] {
  return [
    { name, accepts: ["object"], call },
    ...optionsOf(fields, (given: object) => call({ ...rest, ...given } as never)).map((field) => ({
      ...field,
      within: name,
    })),
  ];
}

const OPTIONS: Accepted = {
  url: ["string"],
  stateFile: [],
  apiKey: ["string"],
  webhookSecret: ["string"],
  controlToken: ["string"],
  fetch: ["function"],
  retryIntervalMs: ["number", "null"],
  disableAfter: ["number", "null"],
  deliveryTimeoutMs: ["number", "null"],
  limits: ["object"],
  clock: [],
  random: ["function"],
  logger: [],
};

const methods: Readonly<Record<string, readonly Argument[]>> = {
  createPlatform: input("options", without(OPTIONS, "stateFile"), async (options) => {
    await createPlatform(options).stop();
  }),
  startPlatform: input(
    "options",
    { host: ["string"], allowHosts: ["array"], port: ["number", "null"], extensions: ["array"] },
    async (options) => await (await startPlatform(options)).stop(),
  ),
  onTimeline: [
    { name: "listener", accepts: ["function"], call: (value) => platform.onTimeline(value)() },
  ],
  waitFor: [
    text("kind", (kind) => platform.waitFor(kind, undefined, { timeoutMs: 0 })),
    {
      name: "fits",
      accepts: ["function"],
      call: (fits) => platform.waitFor("api", fits, { timeoutMs: 0 }),
    },
    ...optionsOf({ after: ["number"], timeoutMs: ["number"] }, (options: object) => {
      return platform.waitFor("api", undefined, { timeoutMs: 0, ...options });
    }),
  ],
  closeWith: [
    { name: "close", accepts: ["function"], call: (value) => createPlatform().closeWith(value) },
  ],
};

/** Valid values for the other arguments of a method, by name. Every other argument can be missing or any text. */
const samples: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "control.act": { input: { type: "dm.message", from: "ada" } },
  "control.addImage": { bytes: new Uint8Array(), input: { from: "ada" } },
  "control.createToken": { scopes: [] },
  "control.setBlock": { input: { by: "ada" } },
  "apps.createToken": { scopes: [] },
  "apps.set": { change: { disabled: false } },
  "inbox.decide": { decision: "retry" },
  "inbox.fireTimers": { input: { lane: "a", name: "b" } },
  "snapshots.upload": { file: new Uint8Array() },
};

/** Arguments that refuse each of the wrong values, although some are of their kind. */
const STRICT = ["control.act payload", "control.events limit", "clock.set advanceMs"];

/** The part of a JSON schema that names kinds of values. */
interface Described {
  readonly type?: ValueKind | "integer";
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Described[];
  readonly properties?: Readonly<Record<string, Described>>;
}

function kindsOf({ type, anyOf = [], enum: members }: Described): ValueKind[] {
  if (type === undefined) return anyOf.flatMap(kindsOf);
  // No wrong value is a member of an enumeration.
  if (members !== undefined) return [];
  return [type === "integer" ? "number" : type];
}

/** Returns every argument of an operation, and every field of its arguments. */
function argumentsOf(key: string, { part, name, route, schemas }: Operation): Argument[] {
  const target: object = part === undefined ? control : Reflect.get(control, part);
  const given = (argument: (typeof route.args)[number]) =>
    samples[key]?.[argument.name] ?? { path: "x", body: {} }[String(argument.in)];
  return route.args.flatMap((argument, nth) => {
    const call = (value: unknown) => {
      const values: readonly unknown[] = route.args.map(given);
      return Reflect.apply(Reflect.get(target, name), target, values.with(nth, value));
    };
    const described: Described = JSON.parse(
      JSON.stringify(z.toJSONSchema(schemas[nth] ?? z.never(), { unrepresentable: "any" })),
    );
    const accepts = (field: string, kinds: ValueKind[]) =>
      STRICT.includes(`${key} ${field}`) ? [] : kinds;
    const fields = Object.entries(described.properties ?? {});
    return [
      { name: argument.name, accepts: accepts(argument.name, kindsOf(described)), call },
      ...fields.map(([field, facts]) => ({
        name: field,
        within: argument.name,
        accepts: accepts(field, kindsOf(facts)),
        call: (value: never) => call({ ...Object(given(argument)), [field]: value }),
      })),
    ];
  });
}

const controlMethods = operations.flatMap((operation): [string, Argument[]][] => {
  const { part = "control", name } = operation;
  const list = argumentsOf(`${part}.${name}`, operation);
  const isMethod =
    typeof Reflect.get(part === "control" ? control : Reflect.get(control, part), name) ===
    "function";
  return isMethod && list.length > 0 ? [[`${part}.${name}`, list]] : [];
});

function without(fields: Accepted, name: string): Accepted {
  return Object.fromEntries(Object.entries(fields).filter(([one]) => one !== name));
}

/** Methods without arguments, and requests, which fail as `fetch` does. */
const NONE = [
  ...["respond", "stop", "control.reset", "apps.list", "snapshots.list"],
  ...["createPlatform", "startPlatform"],
];

test("every method of a local platform is here", () => {
  const parts = { control, apps, clock, inbox, snapshots };
  const names = Object.entries(parts).flatMap(([name, part]) => {
    const own = Object.getPrototypeOf(part);
    const base = Object.getPrototypeOf(own);
    const all =
      base === Object.prototype ? methodsOf(own) : [...methodsOf(own), ...methodsOf(base)];
    return all.map((method) => `${name}.${method}`);
  });
  const expected = new Set([...names, ...methodsOf(Object.getPrototypeOf(platform)), ...NONE]);
  expect(
    [
      ...new Set([...Object.keys(methods), ...controlMethods.map(([name]) => name), ...NONE]),
    ].sort(),
  ).toEqual([...expected].sort());
});

describe.each([...Object.entries(methods), ...controlMethods])(
  "%s refuses a wrong value by name",
  (_, list) => {
    test.each(list)("$name", async (argument) => {
      expect(await mistakesOf(argument)).toEqual([]);
    });
  },
);
