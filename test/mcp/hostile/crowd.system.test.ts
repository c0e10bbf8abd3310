import { describe, expect, test } from "vitest";
import { apiKey, json } from "../../client/api.ts";
import { mulberry32 } from "../../support/mulberry32.ts";
import { call } from "../call.ts";
import { ways } from "../connect.ts";
import { everyScope } from "../every-tool.ts";
import { serve } from "../stub.ts";

const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);

describe.each(ways)(`over %s, with SEED=${seed}`, (_, connect) => {
  test("two hundred calls at once have two hundred answers, each its own", async () => {
    const random = mulberry32(seed);
    const { url, calls } = await serve((response, request) => {
      const username = request.url?.split("/").at(-1);
      setTimeout(() => json(200, { username })(response, request), random() * 20);
    });
    const client = await connect({ url, apiKey, scopes: everyScope });
    const names = Array.from({ length: 200 }, (_, number) => `user${number}`);
    const answers = names.map((username) => call(client, "service_get_user", { username }));
    const told = (await Promise.all(answers)).map(({ result }) => result.structuredContent);
    expect(told).toEqual(names.map((username) => ({ username })));
    expect(calls).toHaveLength(200);
  });
});
