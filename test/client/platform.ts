import { Client, type ClientOptions } from "../faces/client.ts";
import type { Platform, Scope } from "../faces/platform.ts";
import { MAX_IMAGE_BYTES } from "../faces/platform.ts";
import { ManualClock } from "../platform/support/clock.ts";
import { image } from "../platform/support/images.ts";
import { act, tokenWith } from "../platform/support/platform.ts";
import { platformWithDownloads, type startWithDownloads } from "../platform/uploads/start.ts";

export interface World {
  readonly platform: Platform;
  readonly clock: ManualClock;
  readonly client: Client;
  readonly clientWith: (...scopes: Scope[]) => Client;
  readonly stranger: Client;
}

/**
 * Starts a platform on which ada has written to the bot (conversation `c_2`). An image URL's path selects what the
 * platform downloads.
 */
export async function world(
  options: Partial<ClientOptions> = {},
  start: (
    ...given: Parameters<typeof startWithDownloads>
  ) => Platform | Promise<Platform> = platformWithDownloads,
): Promise<World> {
  const clock = new ManualClock();
  const png = await image();
  const platform = await start(
    (response, path) => {
      if (path === "/a.png") response.end(png);
      else if (path === "/moved") response.writeHead(302, { location: "/a.png" }).end();
      else if (path === "/gone") response.destroy();
      else if (path === "/large") response.end(Buffer.alloc(MAX_IMAGE_BYTES + 1));
      else response.end("<html></html>");
    },
    { clock },
  );
  act(platform, "dm.message");
  const clientFor = (apiKey: string) =>
    new Client({ baseUrl: platform.url, apiKey, fetch: platform.fetch, retries: 0, ...options });
  return {
    platform,
    clock,
    client: clientFor(platform.apiKey),
    clientWith: (...scopes) => clientFor(tokenWith(platform, ...scopes)),
    stranger: clientFor(platform.control.createToken(["dm", "posts:write"], "other").apiKey),
  };
}
