/** Matches frames in Node and in packages, because the bug is rarely there. */
const FOREIGN = /\bnode:|\/node_modules\//;

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
  return own.slice(0, MAX_FRAMES).map((line) => {
    const [before = "", file = "", after = ""] = line.trim().split(/([^/\\(]+:\d+:\d+)/);
    return { before: before.replace("file://", ""), file, after };
  });
}
