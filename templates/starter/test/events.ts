/** Events as the platform sends them, for the tests. */

const actor = { username: "ada", name: "Ada" };

export const directMessage = {
  type: "dm.message",
  payload: {
    conversationId: "c_1",
    from: { userId: "u_1", ...actor },
    excerpt: "hello",
  },
} as const;

/** Activity of Ada around the post `p_1`. */
export function activity<T extends string>(type: T): Activity<T> {
  return {
    type,
    payload: { actor, entityType: "post", entityId: "p_1", postId: "p_1", excerpt: "hello" },
  };
}

interface Activity<T extends string> {
  readonly type: T;
  readonly payload: {
    readonly actor: typeof actor;
    readonly entityType: string;
    readonly entityId: string;
    readonly postId: string;
    readonly excerpt: string;
  };
}
