import { parameter } from "../http/query.ts";
import type { Control } from "./control.ts";
import { bodyOf, botIn, type Endpoints } from "./endpoint.ts";
import { accountBody, appBody, tokenBody, webhookBody } from "./schemas.ts";

/** What belongs to an app. */
export function appEndpoints(control: Control): Endpoints {
  const { apps } = control;
  return {
    "/apps": {
      get: () => ({ items: apps.list() }),
      post: async (request) => apps.create(await bodyOf(request, accountBody)),
    },
    "/apps/:bot": {
      put: async (request) => apps.set(parameter(request, "bot"), await bodyOf(request, appBody)),
    },
    "/tokens": {
      get: (request) => ({ items: apps.tokens(botIn(request)) }),
      post: async (request) => {
        const { scopes, bot } = await bodyOf(request, tokenBody);
        return apps.createToken(scopes, bot);
      },
    },
    "/tokens/:id": {
      delete: (request) => {
        const id = parameter(request, "id");
        apps.revokeToken(id);
        return { id };
      },
    },
    "/webhook": {
      get: (request) => control.webhookOf(botIn(request)),
      put: async (request) =>
        control.saveWebhook(await bodyOf(request, webhookBody), botIn(request)),
    },
    "/webhook/secret": {
      post: (request) => ({ secret: control.regenerateWebhookSecret(botIn(request)) }),
    },
    "/notifications": {
      get: (request) => ({ items: control.notifications(botIn(request)) }),
    },
  };
}
