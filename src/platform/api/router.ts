import { Router } from "express";
import { allScopes } from "../../core/scope.ts";
import { notFound, PlatformError } from "../error.ts";
import { dmRoutes } from "./dm.ts";
import { eventRoutes } from "./events.ts";
import { type ApiContext, exchange } from "./exchange.ts";
import { postRoutes } from "./posts.ts";
import type { Route } from "./route.ts";
import { searchRoutes } from "./search.ts";
import { uploadRoutes } from "./uploads.ts";
import { userRoutes } from "./users.ts";

const routes: readonly Route[] = [
  ...userRoutes,
  ...postRoutes,
  ...searchRoutes,
  ...uploadRoutes,
  ...dmRoutes,
  ...eventRoutes,
];

/** The API that bots call: everything below /api/v1. */
export function apiRouter(context: ApiContext): Router {
  const router = Router({ caseSensitive: true, strict: true });
  for (const route of routes) {
    router[route.method](route.path, (request, response) =>
      exchange(context, route, request, response),
    );
  }
  for (const path of new Set(routes.map((route) => route.path))) {
    const other = wrongMethod(path);
    router.all(path, (request, response) => exchange(context, other, request, response));
  }
  router.use((request, response) => exchange(context, unknownPath, request, response));
  return router;
}

/** Answered like any other endpoint, so that faults and the timeline cover these requests too. */
const unknownPath: Route = {
  method: "get",
  path: "*",
  scopes: allScopes,
  handle: () => {
    throw notFound("endpoint");
  },
};

function wrongMethod(path: string): Route {
  const methods = routes.filter((route) => route.path === path).map(({ method }) => method);
  const allow = methods.join(", ").toUpperCase();
  return {
    ...unknownPath,
    handle: () => {
      const message = `${path} takes ${allow} only.`;
      throw new PlatformError(405, "METHOD_NOT_ALLOWED", message, { Allow: allow });
    },
  };
}
