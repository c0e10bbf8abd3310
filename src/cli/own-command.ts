import { isAbsolute, relative, sep } from "node:path";
import { quoted } from "./text.ts";

/** How this program is called from a terminal, so that a command that we print works when it is pasted. */
export function ownCommand(script: string = process.argv[1] ?? ""): string {
  const parts = script.split(sep);
  if (parts.includes("node_modules")) return "npx service-bot";
  if (parts.at(-1) === "service-bot") return "service-bot";
  const path = relative(process.cwd(), script);
  return `node ${quoted(path.startsWith("..") || isAbsolute(path) ? script : path)}`;
}
