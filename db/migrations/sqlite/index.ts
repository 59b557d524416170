import start from "./0000_start.sql" with { type: "text" };
import ledgerRules from "./0001_ledger_rules.sql" with { type: "text" };
import lists from "./0002_lists.sql" with { type: "text" };
import vouchedUsers from "./0003_vouched_users.sql" with { type: "text" };
import imageTemplates from "./0004_image_templates.sql" with { type: "text" };
import season from "./0005_season.sql" with { type: "text" };
import mails from "./0006_mails.sql" with { type: "text" };
import imageReceipts from "./0007_image_receipts.sql" with { type: "text" };
import publishedTemplates from "./0008_published_templates.sql" with { type: "text" };
import requestPlayers from "./0009_request_players.sql" with { type: "text" };
import largeTables from "./0010_large_tables.sql" with { type: "text" };
import usageBudgets from "./0011_usage_budgets.sql" with { type: "text" };
import sealedBooks from "./0012_sealed_books.sql" with { type: "text" };
import canceledCards from "./0013_canceled_cards.sql" with { type: "text" };
import imageComposition from "./0014_image_composition.sql" with { type: "text" };
import imageLists from "./0015_image_lists.sql" with { type: "text" };
import usageFailures from "./0016_usage_failures.sql" with { type: "text" };
import keyRules from "./0017_key_rules.sql" with { type: "text" };
import batchRemakes from "./0018_batch_remakes.sql" with { type: "text" };
import brandKits from "./0019_brand_kits.sql" with { type: "text" };
import signingSecrets from "./0020_signing_secrets.sql" with { type: "text" };
import playerConsents from "./0021_player_consents.sql" with { type: "text" };
import developersDelete from "./0022_developers_delete.sql" with { type: "text" };
import eventTypes from "./0023_event_types.sql" with { type: "text" };
import cardSets from "./0024_card_sets.sql" with { type: "text" };
import backsOfImages from "./0025_backs_of_images.sql" with { type: "text" };
import imageSetPlaces from "./0026_image_set_places.sql" with { type: "text" };
import deliveryTypes from "./0027_delivery_types.sql" with { type: "text" };
import imagePictures from "./0028_image_pictures.sql" with { type: "text" };
import setKeys from "./0029_set_keys.sql" with { type: "text" };
import accountTraces from "./0030_account_traces.sql" with { type: "text" };
import setGalleries from "./0031_set_galleries.sql" with { type: "text" };
import imagePublications from "./0032_image_publications.sql" with { type: "text" };
import seenVersions from "./0033_seen_versions.sql" with { type: "text" };
import statusPage from "./0034_status_page.sql" with { type: "text" };
import ownBuckets from "./0035_own_buckets.sql" with { type: "text" };
import signInByOidc from "./0036_sign_in_by_oidc.sql" with { type: "text" };
import requestPlayersInOrder from "./0037_request_players_in_order.sql" with { type: "text" };

/**
 * Every migration in order. A new one made by drizzle-kit is added here, so that a compiled binary carries
 * it.
 */
export const migrations: { name: string; sql: string }[] = [
  { name: "0000_start", sql: start },
  { name: "0001_ledger_rules", sql: ledgerRules },
  { name: "0002_lists", sql: lists },
  { name: "0003_vouched_users", sql: vouchedUsers },
  { name: "0004_image_templates", sql: imageTemplates },
  { name: "0005_season", sql: season },
  { name: "0006_mails", sql: mails },
  { name: "0007_image_receipts", sql: imageReceipts },
  { name: "0008_published_templates", sql: publishedTemplates },
  { name: "0009_request_players", sql: requestPlayers },
  { name: "0010_large_tables", sql: largeTables },
  { name: "0011_usage_budgets", sql: usageBudgets },
  { name: "0012_sealed_books", sql: sealedBooks },
  { name: "0013_canceled_cards", sql: canceledCards },
  { name: "0014_image_composition", sql: imageComposition },
  { name: "0015_image_lists", sql: imageLists },
  { name: "0016_usage_failures", sql: usageFailures },
  { name: "0017_key_rules", sql: keyRules },
  { name: "0018_batch_remakes", sql: batchRemakes },
  { name: "0019_brand_kits", sql: brandKits },
  { name: "0020_signing_secrets", sql: signingSecrets },
  { name: "0021_player_consents", sql: playerConsents },
  { name: "0022_developers_delete", sql: developersDelete },
  { name: "0023_event_types", sql: eventTypes },
  { name: "0024_card_sets", sql: cardSets },
  { name: "0025_backs_of_images", sql: backsOfImages },
  { name: "0026_image_set_places", sql: imageSetPlaces },
  { name: "0027_delivery_types", sql: deliveryTypes },
  { name: "0028_image_pictures", sql: imagePictures },
  { name: "0029_set_keys", sql: setKeys },
  { name: "0030_account_traces", sql: accountTraces },
  { name: "0031_set_galleries", sql: setGalleries },
  { name: "0032_image_publications", sql: imagePublications },
  { name: "0033_seen_versions", sql: seenVersions },
  { name: "0034_status_page", sql: statusPage },
  { name: "0035_own_buckets", sql: ownBuckets },
  { name: "0036_sign_in_by_oidc", sql: signInByOidc },
  { name: "0037_request_players_in_order", sql: requestPlayersInOrder },
];
