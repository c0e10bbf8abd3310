import type { Chain, Route } from "./chain.ts";

/** A command of a bot, for `/help`. */
export interface Command {
  /** Without the slash, as it was registered. */
  readonly name: string;
  /** Empty if none was given. */
  readonly description: string;
}

/** Types whose text commands and patterns are compared with. */
export const TEXT_TYPES: ReadonlySet<string> = new Set(["dm.message", "mention"]);

/** A handler that is chosen by the text of a message or a mention. */
export interface TextEntry {
  readonly kind: "text";
  readonly run: Chain;
  /** Returns the fields for the context; `undefined` if the text does not match. */
  readonly match: (text: string) => object | undefined;
  /** Set for a command. */
  readonly command?: Command | undefined;
}

/** A handler with the middleware of its modules around it. */
export interface TextRoute {
  readonly entry: TextEntry;
  readonly run: Chain;
}

/** Finds the first handler that the whole text matches, and adds its fields to the context. */
export async function firstMatch(
  _routes: readonly TextRoute[],
  _route: Route,
): Promise<Chain | undefined> {
  return undefined;
}
