import { expect, test } from "vitest";
import { Client } from "../faces/client.ts";
import { messagesOf } from "./api.ts";

test("every request that the client can make has a template, and no id is in it", async () => {
  const client = new Client({
    baseUrl: "http://platform.test",
    apiKey: "for-tests-only",
    retries: 0,
    fetch: async () => Response.json({ error: { message: "no" } }, { status: 404 }),
  });
  const requests = messagesOf(client, "request");
  const png = "https://images.example/a.png";
  const calls: readonly (() => PromiseLike<unknown>)[] = [
    () => client.me(),
    () => client.events(),
    () => client.feed(),
    () => client.search({ text: "id_1" }),
    () => client.upload(png),
    () => client.dms.conversations(),
    () => client.dms.messages("id_1"),
    () => client.dms.send("messages", { text: "id_1" }),
    () => client.posts.get("id_1"),
    () => client.posts.create({ text: "id_1" }),
    () => client.posts.comments("comments"),
    () => client.posts.comment("id_1", { text: "id_1" }),
    () => client.users.get("id_1"),
  ];
  for (const call of calls) {
    await expect(async () => await call()).rejects.toMatchObject({ status: 404 });
  }
  expect(requests.map(({ operation }) => operation).sort()).toEqual([
    "GET /dm/conversations",
    "GET /dm/conversations/{id}/messages",
    "GET /events",
    "GET /feed",
    "GET /me",
    "GET /posts/{id}",
    "GET /posts/{id}/comments",
    "GET /search",
    "GET /users/{name}",
    "POST /dm/conversations/{id}/messages",
    "POST /posts",
    "POST /posts/{id}/comments",
    "POST /uploads",
  ]);
});
