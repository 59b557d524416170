import start from "./0000_start.sql" with { type: "text" };
import ledgerRules from "./0001_ledger_rules.sql" with { type: "text" };
import publishedTemplates from "./0002_published_templates.sql" with { type: "text" };
import shortLivedState from "./0003_short_lived_state.sql" with { type: "text" };
import sealingKey from "./0004_sealing_key.sql" with { type: "text" };
import nodes from "./0005_nodes.sql" with { type: "text" };
import requestPlayers from "./0006_request_players.sql" with { type: "text" };
import sourceHolds from "./0007_source_holds.sql" with { type: "text" };
import largeTables from "./0008_large_tables.sql" with { type: "text" };
import usageBudgets from "./0009_usage_budgets.sql" with { type: "text" };
import sealedBooks from "./0010_sealed_books.sql" with { type: "text" };
import canceledCards from "./0011_canceled_cards.sql" with { type: "text" };
import imageComposition from "./0012_image_composition.sql" with { type: "text" };
import imageLists from "./0013_image_lists.sql" with { type: "text" };
import usageFailures from "./0014_usage_failures.sql" with { type: "text" };
import keyRules from "./0015_key_rules.sql" with { type: "text" };
import batchRemakes from "./0016_batch_remakes.sql" with { type: "text" };
import brandKits from "./0017_brand_kits.sql" with { type: "text" };
import signingSecrets from "./0018_signing_secrets.sql" with { type: "text" };
import playerConsents from "./0019_player_consents.sql" with { type: "text" };
import developersDelete from "./0020_developers_delete.sql" with { type: "text" };
import eventTypes from "./0021_event_types.sql" with { type: "text" };
import cardSets from "./0022_card_sets.sql" with { type: "text" };
import backsOfImages from "./0023_backs_of_images.sql" with { type: "text" };
import imageSetPlaces from "./0024_image_set_places.sql" with { type: "text" };
import deliveryTypes from "./0025_delivery_types.sql" with { type: "text" };
import imagePictures from "./0026_image_pictures.sql" with { type: "text" };
import setKeys from "./0027_set_keys.sql" with { type: "text" };
import accountTraces from "./0028_account_traces.sql" with { type: "text" };
import setGalleries from "./0029_set_galleries.sql" with { type: "text" };
import imagePublications from "./0030_image_publications.sql" with { type: "text" };
import seenVersions from "./0031_seen_versions.sql" with { type: "text" };
import statusPage from "./0032_status_page.sql" with { type: "text" };
import ownBuckets from "./0033_own_buckets.sql" with { type: "text" };
import signInByOidc from "./0034_sign_in_by_oidc.sql" with { type: "text" };
import requestPlayersInOrder from "./0035_request_players_in_order.sql" with { type: "text" };

/**
 * Every migration in order. A new one made by drizzle-kit is added here, so that a compiled binary carries
 * it.
 */
export const migrations: { name: string; sql: string }[] = [
  { name: "0000_start", sql: start },
  { name: "0001_ledger_rules", sql: ledgerRules },
  { name: "0002_published_templates", sql: publishedTemplates },
  { name: "0003_short_lived_state", sql: shortLivedState },
  { name: "0004_sealing_key", sql: sealingKey },
  { name: "0005_nodes", sql: nodes },
  { name: "0006_request_players", sql: requestPlayers },
  { name: "0007_source_holds", sql: sourceHolds },
  { name: "0008_large_tables", sql: largeTables },
  { name: "0009_usage_budgets", sql: usageBudgets },
  { name: "0010_sealed_books", sql: sealedBooks },
  { name: "0011_canceled_cards", sql: canceledCards },
  { name: "0012_image_composition", sql: imageComposition },
  { name: "0013_image_lists", sql: imageLists },
  { name: "0014_usage_failures", sql: usageFailures },
  { name: "0015_key_rules", sql: keyRules },
  { name: "0016_batch_remakes", sql: batchRemakes },
  { name: "0017_brand_kits", sql: brandKits },
  { name: "0018_signing_secrets", sql: signingSecrets },
  { name: "0019_player_consents", sql: playerConsents },
  { name: "0020_developers_delete", sql: developersDelete },
  { name: "0021_event_types", sql: eventTypes },
  { name: "0022_card_sets", sql: cardSets },
  { name: "0023_backs_of_images", sql: backsOfImages },
  { name: "0024_image_set_places", sql: imageSetPlaces },
  { name: "0025_delivery_types", sql: deliveryTypes },
  { name: "0026_image_pictures", sql: imagePictures },
  { name: "0027_set_keys", sql: setKeys },
  { name: "0028_account_traces", sql: accountTraces },
  { name: "0029_set_galleries", sql: setGalleries },
  { name: "0030_image_publications", sql: imagePublications },
  { name: "0031_seen_versions", sql: seenVersions },
  { name: "0032_status_page", sql: statusPage },
  { name: "0033_own_buckets", sql: ownBuckets },
  { name: "0034_sign_in_by_oidc", sql: signInByOidc },
  { name: "0035_request_players_in_order", sql: requestPlayersInOrder },
];
