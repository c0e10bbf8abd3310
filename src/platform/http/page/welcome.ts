import type { IncomingMessage } from "node:http";

/** What a program gets that asks for the platform's address itself, and a browser while there is no page. */
export function welcome({ headers }: IncomingMessage): string {
  const origin = `http://${headers.host}`;
  return `The local platform of service-bot.

A bot talks to it at   ${origin}/api/v1
You talk to it at      ${origin}/control/v1
In a browser           ${origin}/

Be a person:

  npx service-bot trigger dm.message --from ada --text hello --wait --platform ${origin}
  npx service-bot trigger mention --from ben --wait --platform ${origin}

See what happened, with the control token that the platform printed when it started:

  curl -H "X-Control-Token: $TOKEN" ${origin}/control/v1/timeline
  curl -H "X-Control-Token: $TOKEN" ${origin}/control/v1/state
`;
}
