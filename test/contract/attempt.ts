import type { Client } from "../faces/client.ts";
import { messagesOf, rawBytes } from "../platform/conformance/setup.ts";
import { formWith } from "../platform/support/images.ts";

export interface Attempt {
  readonly method: "GET" | "POST";
  /** Path relative to /api/v1. */
  readonly path: string;
  readonly body?: unknown;
  /** The default is a token with every scope. */
  readonly token?: string | undefined;
  /** Calls the client's method. Absent if the client cannot express the request. */
  readonly byClient?: (client: Client) => Promise<unknown>;
  /** Calls the MCP server's tool. Absent if the tool cannot express the request. */
  readonly byTool?: readonly [name: string, args: Readonly<Record<string, unknown>>];
  /**
   * True if the tool's schema rejects the arguments. The call then never reaches the platform and has no platform
   * status.
   */
  readonly refusedBySchema?: true;
}

interface Content {
  readonly text?: string;
  readonly imageKeys?: string[];
}

export function uploadFrom(url: string): Attempt {
  return {
    ...{ method: "POST", path: "/uploads", body: { url } },
    byClient: (client) => client.upload({ url }),
    byTool: ["service_upload_image", { url }],
  };
}

export function uploadOf(bytes: Buffer, token?: string): Attempt {
  const body = rawBytes(bytes);
  return {
    ...{ method: "POST", path: "/uploads", body, token },
    byClient: (client) => client.upload(bytes),
    byTool: ["service_upload_image", { dataBase64: bytes.toString("base64") }],
  };
}

export function uploadFormOf(bytes: Buffer<ArrayBuffer>): Attempt {
  return { method: "POST", path: "/uploads", body: formWith(bytes) };
}

export function uploadBody(body: object | string): Attempt {
  const isObject = typeof body === "object" && !Array.isArray(body);
  return {
    ...{ method: "POST", path: "/uploads", body },
    ...(isObject ? { byTool: ["service_upload_image", { ...body }], refusedBySchema: true } : {}),
  };
}

export function createPost(content: Content): Attempt {
  return {
    ...{ method: "POST", path: "/posts", body: content },
    byClient: (client) => client.posts.create(content),
    byTool: ["service_create_post", { ...content }],
  };
}

export function createComment(postId: string, content: Content): Attempt {
  return {
    ...{ method: "POST", path: `/posts/${postId}/comments`, body: content },
    byClient: (client) => client.posts.comment(postId, content),
    byTool: ["service_create_comment", { postId, ...content }],
  };
}

export function sendMessage(conversationId: string, content: Content, token?: string): Attempt {
  return {
    ...{ method: "POST", path: messagesOf(conversationId), body: content, token },
    byClient: (client) => client.dms.send(conversationId, content),
    byTool: ["service_send_message", { conversationId, ...content }],
  };
}

export function listConversations(token: string): Attempt {
  return {
    ...{ method: "GET", path: "/dm/conversations", token },
    byClient: async (client) => client.dms.conversations(),
    byTool: ["service_list_conversations", {}],
  };
}

export function listMessages(conversationId: string, token?: string): Attempt {
  return {
    ...{ method: "GET", path: messagesOf(conversationId), token },
    byClient: async (client) => client.dms.messages(conversationId),
    byTool: ["service_list_messages", { conversationId }],
  };
}

export function readEvents(token: string): Attempt {
  return {
    ...{ method: "GET", path: "/events", token },
    byClient: (client) => client.events(),
    byTool: ["service_get_events", {}],
  };
}
