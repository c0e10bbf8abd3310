/** Matches frames in Node and in packages, because the bug is rarely there. */
const FOREIGN = /\bnode:|\/node_modules\//;

/** Line and column. */
const POSITION = /:\d+:\d+/;

/** Frames further down are rarely the cause. */
const MAX_FRAMES = 3;

export interface Frame {
  readonly before: string;
  /** File name, line and column: "bot.ts:12:7". */
  readonly file: string;
  readonly after: string;
}

export function ownFrames(stack: string): readonly Frame[] {
  const own = stack.split("\n").filter((line) => /^\s+at /.test(line) && !FOREIGN.test(line));
  return own.slice(0, MAX_FRAMES).map((line) => toFrame(line.trim()));
}

function toFrame(line: string): Frame {
  const position = POSITION.exec(line);
  if (position === null) return { before: line, file: "", after: "" };
  const { index } = position;
  const last = (sign: string) => line.lastIndexOf(sign, index);
  const folder = Math.max(last("/"), last("\\"), last("("));
  const end = index + position[0].length;
  return {
    before: line.slice(0, folder + 1).replace("file://", ""),
    file: line.slice(folder + 1, end),
    after: line.slice(end),
  };
}
