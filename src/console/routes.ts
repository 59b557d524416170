import { documentationRoutes } from "./api/documentation.ts";
import { keyRoutes } from "./api/keys.tsx";
import { requestRoutes } from "./api/requests.tsx";
import { batchRoutes } from "./batches/batch.tsx";
import { batchesRoutes } from "./batches/batches.tsx";
import { forPrintRoutes } from "./batches/for-print.tsx";
import { listCheckRoutes } from "./batches/list-check.tsx";
import { listColumnRoutes } from "./batches/list-columns.tsx";
import { listLookedRoutes } from "./batches/list-looked.tsx";
import { listPhotoRoutes } from "./batches/list-photos.tsx";
import { listPositionRoutes } from "./batches/list-positions.tsx";
import { listPreviewRoutes } from "./batches/list-previews.tsx";
import { listUploadRoutes } from "./batches/list-upload.tsx";
import { printRoutes } from "./batches/print.tsx";
import { sheetRoutes } from "./batches/sheet.tsx";
import { waitingListRoutes } from "./batches/waiting-lists.tsx";
import { againRoutes } from "./cards/again.tsx";
import { fillSetRoutes } from "./cards/fill-set.tsx";
import { imageRoutes } from "./cards/image.tsx";
import { imagesRoutes } from "./cards/images.tsx";
import { kitRoutes } from "./cards/kits.tsx";
import { makeRoutes } from "./cards/make.tsx";
import { matchRoutes } from "./cards/match.tsx";
import { playerRoutes } from "./cards/player.tsx";
import { playgroundRoutes } from "./cards/playground.tsx";
import { publicationRoutes } from "./cards/publication.ts";
import { setRoutes } from "./cards/set.tsx";
import { setsRoutes } from "./cards/sets.tsx";
import { creditRoutes } from "./credits/credits.tsx";
import { usageRoutes } from "./credits/usage.tsx";
import { findRoutes } from "./find.ts";
import { homeRoutes } from "./home.tsx";
import { operatorRoutes } from "./operator/routes.ts";
import { activityRoutes } from "./people/activity.tsx";
import { consentRoutes } from "./people/consent.tsx";
import { dataRoutes } from "./people/data.tsx";
import { forgottenPasswordRoutes } from "./people/forgotten-password.tsx";
import { memberRoutes } from "./people/members.tsx";
import { bucketRoutes } from "./people/own-bucket.tsx";
import { passkeyRoutes } from "./people/passkeys.tsx";
import { profileRoutes } from "./people/profile.tsx";
import { providerRoutes } from "./people/provider.tsx";
import { setupRoutes } from "./people/setup.tsx";
import { signInRoutes } from "./people/sign-in.tsx";
import type { ConsoleRoute } from "./visit.ts";
import { deliveryRoutes } from "./webhooks/deliveries.tsx";
import { webhookRoutes } from "./webhooks/webhooks.tsx";
import { whatsNewRoutes } from "./whats-new.tsx";

/** Every page and form of the console. The first that fits answers. */
export const consoleRoutes: ConsoleRoute[] = [
  ...signInRoutes,
  ...providerRoutes,
  ...setupRoutes,
  ...forgottenPasswordRoutes,
  ...homeRoutes,
  ...whatsNewRoutes,
  ...findRoutes,
  ...imagesRoutes,
  ...imageRoutes,
  ...batchesRoutes,
  ...batchRoutes,
  ...printRoutes,
  ...forPrintRoutes,
  ...sheetRoutes,
  ...playerRoutes,
  ...listUploadRoutes,
  ...waitingListRoutes,
  ...listColumnRoutes,
  ...listPhotoRoutes,
  ...listCheckRoutes,
  ...listPositionRoutes,
  ...listLookedRoutes,
  ...listPreviewRoutes,
  ...againRoutes,
  ...publicationRoutes,
  ...consentRoutes,
  ...dataRoutes,
  ...bucketRoutes,
  ...requestRoutes,
  ...makeRoutes,
  ...matchRoutes,
  ...playgroundRoutes,
  ...kitRoutes,
  ...setsRoutes,
  ...setRoutes,
  ...fillSetRoutes,
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
