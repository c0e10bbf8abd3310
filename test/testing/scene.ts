import { FakePlatform } from "../../src/testing/index.ts";
import { Client, type ClientOptions, Http } from "../faces/client.ts";

export const access: ClientOptions = { baseUrl: "http://platform.test", apiKey: "key", retries: 0 };
export const ada = { userId: "u_1", username: "ada", name: "Ada" };

export interface Scene {
  readonly platform: FakePlatform;
  readonly client: Client;
  /** Past what the client would refuse by itself. */
  readonly http: Http;
  readonly wait: (ms: number) => void;
}

/** A client on its own with the platform in memory, where ada has written to the bot. */
export function scene(): Scene {
  let now = Date.parse("2026-01-01T00:00:00Z");
  const platform = new FakePlatform(() => now);
  const payload = { conversationId: "c_1", from: ada, excerpt: "hello" };
  platform.happen({ id: "1", type: "dm.message", payload });
  const { fetch } = platform;
  return {
    platform,
    client: new Client({ ...access, fetch }),
    http: new Http({ ...access, fetch }),
    wait: (ms: number) => {
      now += ms;
    },
  };
}
