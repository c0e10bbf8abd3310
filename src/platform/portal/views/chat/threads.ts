import type { ControlComment } from "../../../types.ts";

/** Further in there is no room on a phone. */
const MAX_DEPTH = 3;

export interface Threaded {
  readonly comment: ControlComment;
  /** 0 for one that answers no other, up to 3. */
  readonly depth: number;
}

/** Each comment behind the one that it answers, else oldest first. */
export function threaded(comments: readonly ControlComment[]): readonly Threaded[] {
  const ids = new Set(comments.map(({ id }) => id));
  const answers = Map.groupBy(comments, ({ replyToId }) =>
    replyToId !== null && ids.has(replyToId) ? replyToId : "",
  );
  const found: Threaded[] = [];
  // A stack rather than a recursion: two bots can answer each other thousands of times.
  const stack = (answers.get("") ?? []).map((comment) => ({ comment, depth: 0 })).reverse();
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    found.push(next);
    const depth = Math.min(next.depth + 1, MAX_DEPTH);
    for (const comment of (answers.get(next.comment.id) ?? []).toReversed()) {
      stack.push({ comment, depth });
    }
  }
  return found;
}
