import { activityRoutes } from "./activity.tsx";
import { againRoutes } from "./again.tsx";
import { batchRoutes } from "./batch.tsx";
import { batchesRoutes } from "./batches.tsx";
import { creditRoutes } from "./credits.tsx";
import { dataRoutes } from "./data.tsx";
import { deliveryRoutes } from "./deliveries.tsx";
import { documentationRoutes } from "./documentation.ts";
import { forgottenPasswordRoutes } from "./forgotten-password.tsx";
import { homeRoutes } from "./home.tsx";
import { imageRoutes } from "./image.tsx";
import { imagesRoutes } from "./images.tsx";
import { keyRoutes } from "./keys.tsx";
import { listCheckRoutes } from "./list-check.tsx";
import { listColumnRoutes } from "./list-columns.tsx";
import { listUploadRoutes } from "./list-upload.tsx";
import { memberRoutes } from "./members.tsx";
import { operatorRoutes } from "./operator/routes.ts";
import { passkeyRoutes } from "./passkeys.tsx";
import { playgroundRoutes } from "./playground.tsx";
import { profileRoutes } from "./profile.tsx";
import { requestRoutes } from "./requests.tsx";
import { setupRoutes } from "./setup.tsx";
import { signInRoutes } from "./sign-in.tsx";
import { usageRoutes } from "./usage.tsx";
import type { ConsoleRoute } from "./visit.ts";
import { webhookRoutes } from "./webhooks.tsx";

/** Every page and form of the console. The first that fits answers. */
export const consoleRoutes: ConsoleRoute[] = [
  ...signInRoutes,
  ...setupRoutes,
  ...forgottenPasswordRoutes,
  ...homeRoutes,
  ...imagesRoutes,
  ...imageRoutes,
  ...batchesRoutes,
  ...batchRoutes,
  ...listUploadRoutes,
  ...listColumnRoutes,
  ...listCheckRoutes,
  ...againRoutes,
  ...dataRoutes,
  ...requestRoutes,
  ...playgroundRoutes,
  ...keyRoutes,
  ...documentationRoutes,
  ...usageRoutes,
  ...creditRoutes,
  ...activityRoutes,
  ...memberRoutes,
  ...webhookRoutes,
  ...deliveryRoutes,
  ...profileRoutes,
  ...passkeyRoutes,
  ...operatorRoutes,
];
