import { types } from "node:util";
import { describeValue } from "../../core/kinds.ts";
import { invalid } from "../error.ts";
import { validate } from "../http/body.ts";
import type { Control } from "./control.ts";
import { type Operation, operations } from "./operations.ts";

/**
 * The control operations for calls in process. Their arguments get the checks that the control API makes for its
 * requests, because JavaScript callers and casts bypass the types.
 *
 * @returns the operations, which throw or reject with a `PlatformError` (400 VALIDATION) for invalid arguments
 */
export function inProcess(control: Control): Control {
  return checked(control);
}

function checked<T extends object>(target: T, part?: string): T {
  const own = new Map(operations.flatMap((one) => (one.part === part ? [[one.name, one]] : [])));
  return new Proxy(target, {
    get: (_, name) => {
      // Read without the proxy as receiver, because the getters use private fields.
      const member: unknown = Reflect.get(target, name);
      if (typeof name === "symbol") return member;
      if (part === undefined && parts.has(name)) return checked(Object(member), name);
      const operation = own.get(name);
      if (operation === undefined || typeof member !== "function") return member;
      return (...given: readonly unknown[]) => {
        try {
          return Reflect.apply(member, target, readArguments(operation, given));
        } catch (error) {
          if (types.isAsyncFunction(member)) return Promise.reject(error);
          throw error;
        }
      };
    },
  });
}

const parts = new Set(operations.map(({ part }) => part));

/** @throws {PlatformError} 400 VALIDATION */
function readArguments({ route, schemas }: Operation, given: readonly unknown[]): unknown[] {
  return schemas.map((schema, nth) => {
    const value = given[nth];
    const name = route.args[nth]?.name ?? "";
    // A schema takes these for an object without fields.
    if (types.isPromise(value) || types.isDate(value)) {
      throw invalid(`${name} cannot be ${describeValue(value)}`);
    }
    return validate(schema, value, name);
  });
}
