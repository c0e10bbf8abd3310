/** Events as the platform sends them. */

export const directMessage = {
  type: "dm.message",
  payload: {
    conversationId: "c_1",
    from: { userId: "u_1", username: "ada", name: "Ada" },
    excerpt: "hello",
  },
} as const;

/** Returns an event caused by Ada on the post `p_1`. */
export function activity<T extends string>(type: T): Activity<T> {
  return {
    type,
    payload: {
      actor: { username: "ada", name: "Ada" },
      entityType: "post",
      entityId: "p_1",
      postId: "p_1",
      excerpt: "hello",
    },
  };
}

export interface Activity<T extends string> {
  readonly type: T;
  readonly payload: {
    readonly actor: { readonly username: string; readonly name: string };
    readonly entityType: string;
    readonly entityId: string;
    readonly postId: string;
    readonly excerpt: string;
  };
}
