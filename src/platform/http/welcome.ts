import type { RequestHandler } from "express";

/** What somebody sees who opens the platform's address in a browser. */
export const welcome: RequestHandler = (request, response) => {
  const origin = `http://${request.headers.host}`;
  response.type("text/plain").send(`The local platform of service-bot.

A bot talks to it at   ${origin}/api/v1
You talk to it at      ${origin}/control/v1

Be a person:

  npx service-bot trigger dm.message --from ada --text hello --wait --platform ${origin}
  npx service-bot trigger mention --from ben --wait --platform ${origin}

See what happened:     ${origin}/control/v1/timeline
                       ${origin}/control/v1/state
`);
};
