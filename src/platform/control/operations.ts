import * as z from "zod";
import { appSchemas } from "../apps.ts";
import { clockSchemas } from "../clock.ts";
import type { Schemas } from "../http/body.ts";
import { inboxSchemas } from "./bot-inboxes.ts";
import { isRoute } from "./client.ts";
import { controlSchemas } from "./control.ts";
import { type Argument, type ControlRoute, routes } from "./routes.ts";

/** A method or property of {@link Control}, or of one of its parts. */
export interface Operation {
  /** Property of {@link Control}, such as `apps`. `undefined` for an operation of {@link Control} itself. */
  readonly part: string | undefined;
  readonly name: string;
  readonly route: ControlRoute;
  /** Schemas of the arguments, in order. */
  readonly schemas: readonly z.ZodType[];
}

/** In characters. Error messages repeat ids. */
const id = z.string().max(1_000);
const text = id.optional();

const bytes = z.unknown().refine((given) => given instanceof Uint8Array, "must be a Uint8Array");

function schemaOf({ in: place, fields }: Argument): z.ZodType {
  if (place === "path") return id;
  if (place === "bytes") return bytes;
  if (fields === undefined) return text;
  const each = fields.map((name) => [name, name === "limit" ? z.number().optional() : text]);
  return z.strictObject(Object.fromEntries(each)).optional();
}

function operationsIn(
  table: object,
  schemas: Schemas<Readonly<Record<string, unknown>>>,
  part?: string,
): Operation[] {
  return Object.entries(table)
    .filter(([, route]) => isRoute(route))
    .map(([name, route]: [string, ControlRoute]) => {
      const given = schemas[name] ?? {};
      return {
        part,
        name,
        route,
        schemas: route.args.map((one) => given[one.name] ?? schemaOf(one)),
      };
    });
}

/** Every operation of the control API. */
export const operations: readonly Operation[] = [
  ...operationsIn(routes, controlSchemas),
  ...operationsIn(routes.apps, appSchemas, "apps"),
  ...operationsIn(routes.clock, clockSchemas, "clock"),
  ...operationsIn(routes.inbox, inboxSchemas, "inbox"),
  ...operationsIn(routes.snapshots, {}, "snapshots"),
];
