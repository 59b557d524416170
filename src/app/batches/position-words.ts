import { POSITION_NAMES, POSITIONS, type Position } from "../../core/card.ts";

const plain = (text: string) =>
  text
    .normalize("NFD")
    .toLowerCase()
    .replaceAll("ß", "ss")
    .replaceAll(/[^\p{L}\p{N}]/gu, "");

/**
 * What clubs, leagues and their software write for a position besides its abbreviation and English name, in
 * English, German, French, Spanish and Italian, as `plain` has it. A word that leaves the side open is the
 * left one's, as `winger` is.
 */
const WORDS: Readonly<Partial<Record<Position, string>>> = {
  GK: `g keeper goalie tw torwart torhuter torhuterin torfrau gardien gardienne gardiendebut portero portera
    portiere`,
  CB: `d df def defender centerback iv innenverteidiger innenverteidigerin verteidiger verteidigerin abwehr
    defenseur defenseure defenseurcentral defensa defensacentral central difensore difensorecentrale`,
  LB: `leftwingback leftfullback fullback lv av aussenverteidiger aussenverteidigerin linksverteidiger
    linkerverteidiger lateral lateralgauche arrieregauche lateralizquierdo terzino terzinosinistro`,
  RB: `rightwingback rightfullback rv rechtsverteidiger rechterverteidiger lateraldroit arrieredroit
    lateralderecho terzinodestro`,
  CM: `m mf mid midfielder centermidfielder centralmidfield zm mittelfeld mittelfeldspieler
    mittelfeldspielerin zentralesmittelfeld milieu milieudeterrain milieucentral centrocampista mediocentro`,
  CDM: `defensivemidfield dm zdm defensivesmittelfeld milieudefensif pivote mediano`,
  CAM: `attackingmidfield am zom offensivesmittelfeld milieuoffensif mediapunta trequartista`,
  LM: "linkesmittelfeld milieugauche",
  RM: "rechtesmittelfeld milieudroit",
  LW: `winger leftwing la linksaussen aussensturmer flugel flugelspieler ailier ailiergauche extremo
    extremoizquierdo ala alasinistra`,
  RW: "rightwing ra rechtsaussen ailierdroit extremoderecho aladestra",
  ST: `f fw fwd forward attacker sturm sturmer sturmerin angriff angreifer attaquant attaquante buteur delantero
    delantera attaccante punta`,
  CF: "centerforward ms mittelsturmer mittelsturmerin avantcentre delanterocentro centravanti",
};

const BY_WORD: ReadonlyMap<string, Position> = new Map(
  POSITIONS.flatMap((position) =>
    [position, POSITION_NAMES[position], ...(WORDS[position] ?? "").split(/\s+/)]
      .filter((word) => word !== "")
      .map((word): [string, Position] => [plain(word), position]),
  ),
);

/** The position's abbreviation, also for words that clubs use for it; any other text stays as it is. */
export function asPosition(text: string): string {
  return BY_WORD.get(plain(text)) ?? text;
}
