import type { ControlComment } from "../../../types.ts";

/** Deeper nesting does not fit on a phone. */
const MAX_DEPTH = 3;

export interface Threaded {
  readonly comment: ControlComment;
  /** 0 for a comment on the post itself, up to 3. */
  readonly depth: number;
}

/** Places each comment after the one it replies to. Siblings stay in order, oldest first. */
export function threaded(comments: readonly ControlComment[]): readonly Threaded[] {
  const ids = new Set(comments.map(({ id }) => id));
  const answers = Map.groupBy(comments, ({ replyToId }) =>
    replyToId !== null && ids.has(replyToId) ? replyToId : "",
  );
  const found: Threaded[] = [];
  // Use a stack instead of recursion, because two bots may reply to each other thousands of times.
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
