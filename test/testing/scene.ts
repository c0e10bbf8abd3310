import { onTestFinished } from "vitest";
import { ManualClock, TestPlatform } from "../../src/testing/index.ts";
import { Client, type ClientOptions } from "../faces/client.ts";

export const access: ClientOptions = { baseUrl: "http://platform.test", apiKey: "key", retries: 0 };
export const ada = { userId: "u_1", username: "ada", name: "Ada" };

export interface Scene {
  readonly platform: TestPlatform;
  readonly client: Client;
  readonly clock: ManualClock;
}

/**
 * Creates a client and a platform in this process. On the platform, Ada has written to the bot, and has mentioned it in
 * `p_1`.
 */
export function scene(): Scene {
  const clock = new ManualClock(Date.parse("2026-01-01T00:00:00Z"));
  const platform = new TestPlatform({ clock });
  onTestFinished(() => platform.close());
  const message = { conversationId: "c_1", from: ada, excerpt: "hello" };
  platform.happen({ id: "1", type: "dm.message", payload: message });
  const mention = { actor: ada, entityType: "post", entityId: "p_1", excerpt: "look, @bot" };
  platform.happen({ id: "2", type: "mention", payload: mention });
  return { platform, clock, client: new Client({ ...access, fetch: platform.fetch }) };
}
