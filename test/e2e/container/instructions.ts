export interface Instruction {
  readonly keyword: string;
  /** Flags such as `--from=dependencies`, by name. */
  readonly flags: Readonly<Record<string, string>>;
  readonly text: string;
}

/** Joins lines that end with a backslash. */
export function parseDockerfile(dockerfile: string): readonly Instruction[] {
  return dockerfile
    .replace(/^\s*#.*\n/gm, "")
    .replace(/\\\n\s*/g, "")
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map(parseInstruction);
}

function parseInstruction(line: string): Instruction {
  const [, keyword, flags = "", text = ""] =
    /^([A-Z]+)((?:\s+--[\w-]+=\S+)*)\s+(\S.*)$/.exec(line) ?? [];
  if (keyword === undefined) throw new Error(`not an instruction: ${line}`);
  const pairs = [...flags.matchAll(/--([\w-]+)=(\S+)/g)].map(([, name, value]) => [name, value]);
  return { keyword, flags: Object.fromEntries(pairs), text };
}

/** A variable of an ENV instruction, such as `PORT=3000` or `NAME="two words"`. */
const VARIABLE = /(\w+)=(?:"([^"]*)"|(\S*))/g;

/** Returns the variables that an ENV instruction sets, by name. */
export function variablesIn({ text }: Instruction): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [...text.matchAll(VARIABLE)].map(([, name = "", quoted, plain = ""]) => [
      name,
      quoted ?? plain,
    ]),
  );
}
