import { createServer } from "node:http";
import { appOf, Extensions, type Incoming, type PlatformAnswer } from "../../faces/platform.ts";
import { listenUntilEnd } from "../../support/listen.ts";
import { logSink } from "../../support/log.ts";

/** Serves one part of a platform on a free port, below /control/v1, until the test ends. Returns its origin. */
export async function serve(
  answer: (incoming: Incoming) => PlatformAnswer | Promise<PlatformAnswer>,
): Promise<string> {
  const respond = async (request: Request, gone: AbortSignal) => {
    const url = new URL(request.url);
    const path = url.pathname.replace("/control/v1", "");
    return await answer({ request, method: request.method, path, url, gone });
  };
  const opened = new Extensions([], "http://platform.test");
  const app = appOf({
    platform: { respond },
    opened,
    allowHosts: [],
    logger: logSink().log,
    now: Date.now,
  });
  const { url } = await listenUntilEnd(createServer(app));
  return url;
}
