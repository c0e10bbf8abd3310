import type { Request } from "express";
import { limit, type Page, parameter, text } from "../http/query.ts";
import type { Control } from "./control.ts";
import type { Endpoints } from "./endpoint.ts";
import type { PageInput } from "./page-input.ts";
import type { ControlConversation, ControlMessage, MessagesPage } from "./shapes.ts";

/** What is on the platform, and what became of it, as somebody sees it who sees everything. */
export function contentsEndpoints(control: Control): Endpoints {
  return {
    "/conversations": { get: (request) => conversations(control, request) },
    "/conversations/:id/messages": { get: (request) => messages(control, request) },
    "/posts": { get: (request) => control.posts(pageIn(request)) },
    "/posts/:id": { get: (request) => control.post(parameter(request, "id")) },
    "/posts/:id/comments": {
      get: (request) => ({ items: control.comments(parameter(request, "id")) }),
    },
    "/calls/:id": { get: (request) => control.call(parameter(request, "id")) },
    "/events/:id": { get: (request) => control.event(parameter(request, "id")) },
  };
}

function conversations(control: Control, request: Request): Page<ControlConversation> {
  return control.conversations({ ...pageIn(request), of: text(request.query, "of") });
}

/** All of them, unless a part is asked for. */
function messages(
  control: Control,
  request: Request,
): MessagesPage | { readonly items: readonly ControlMessage[] } {
  const { query } = request;
  const id = parameter(request, "id");
  const before = text(query, "before");
  if (text(query, "limit") === undefined && before === undefined) {
    return { items: control.messages(id) };
  }
  return control.messagesPage(id, { limit: limit(query), before });
}

function pageIn({ query }: Request): PageInput {
  return { limit: limit(query), cursor: text(query, "cursor") };
}
