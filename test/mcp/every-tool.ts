export const everyTool: readonly (readonly [
  name: string,
  args: Readonly<Record<string, unknown>>,
  request: string,
])[] = [
  ["service_get_me", {}, "GET /me"],
  ["service_get_feed", { limit: 2 }, "GET /feed?limit=2"],
  ["service_get_post", { postId: "p_1" }, "GET /posts/p_1"],
  ["service_list_comments", { postId: "p_1" }, "GET /posts/p_1/comments"],
  ["service_get_user", { username: "ada" }, "GET /users/ada"],
  ["service_search", { query: "whales" }, "GET /search?q=whales"],
  ["service_list_conversations", {}, "GET /dm/conversations"],
  ["service_list_messages", { conversationId: "c_2" }, "GET /dm/conversations/c_2/messages"],
  ["service_get_events", { since: "e_1" }, "GET /events?since=e_1"],
  ["service_create_post", { text: "hi there" }, "POST /posts"],
  ["service_create_comment", { postId: "p_1", text: "hi there" }, "POST /posts/p_1/comments"],
  [
    "service_send_message",
    { conversationId: "c_2", text: "hi there" },
    "POST /dm/conversations/c_2/messages",
  ],
  ["service_upload_image", { url: "https://images.example/a.png" }, "POST /uploads"],
];

export const writingTools: typeof everyTool = everyTool.filter(([, , request]) =>
  request.startsWith("POST"),
);

/** Every scope, so that the server does not probe for them. */
export const everyScope = "read,posts:write,comments:write,dm";
