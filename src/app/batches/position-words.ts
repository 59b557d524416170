import { POSITION_NAMES, POSITIONS, type Position } from "../../core/card.ts";
import { plainWord } from "./heading-words.ts";

/**
 * What clubs, leagues and their software write for a position besides its abbreviation and English name, in
 * English, German, French, Spanish, Italian, Portuguese, Dutch, Polish and Turkish, as `plainWord` has it. A
 * word that leaves the side open is the left one's, as `winger` is.
 */
const WORDS: Readonly<Partial<Record<Position, string>>> = {
  GK: `g keeper goalie tw torwart torhuter torhuterin torfrau torwartin tormann gardien gardienne gardiendebut
    portero portera guardameta arquero portiere estremodifensore goleiro goleira guardaredes doelman doelvrouw
    doelverdediger doelverdedigster bramkarz bramkarka kaleci`,
  CB: `d df def defender centerback iv innenverteidiger innenverteidigerin verteidiger verteidigerin
    abwehr abwehrspieler abwehrspielerin libero stopper vorstopper defenseur defenseure defenseurcentral
    defensa defensacentral central difensore difensorecentrale zagueiro zagueira
    defesa defesacentral zagueirocentral defensor verdediger verdedigster centraleverdediger
    centraleverdedigster obronca srodkowyobronca stoper defans savunma ortadefans`,
  LB: `leftwingback leftfullback fullback lv av aussenverteidiger aussenverteidigerin linksverteidiger
    linkerverteidiger linkeaussenverteidigerin linkeverteidigerin lateral lateralgauche arrieregauche
    lateralizquierdo carrilero carrileroizquierdo terzino terzinosinistro lateralesquerdo defesaesquerdo
    linksback vleugelverdediger linkervleugelverdediger lewyobronca bocznyobronca solbek bek`,
  RB: `rightwingback rightfullback rv rechtsverteidiger rechterverteidiger rechteaussenverteidigerin
    rechteverteidigerin lateraldroit arrieredroit lateralderecho carrileroderecho terzinodestro lateraldireito
    defesadireito rechtsback rechtervleugelverdediger prawyobronca sagbek`,
  CM: `m mf mid midfielder centermidfielder centralmidfield zm mittelfeld mittelfeldspieler
    mittelfeldspielerin zentralesmittelfeld zentralermittelfeldspieler milieu milieudeterrain milieucentral
    milieurelayeur centrocampista mediocentro volante mezzala medio mediocentral meiocampista meiocampo
    meiocentral middenvelder middenveldster centralemiddenvelder pomocnik srodkowypomocnik ortasaha
    merkezortasaha`,
  CDM: `defensivemidfield dm zdm defensivesmittelfeld sechser milieudefensif sentinelle pivote mediano
    mediocentrodefensivo mediocampistadefensivo centrocampistadifensivo regista mediodefensivo
    volantedefensivo trinco controleur verdedigendemiddenvelder defensywnypomocnik defensifortasaha onlibero`,
  CAM: `attackingmidfield am zom offensivesmittelfeld spielmacher spielmacherin zehner milieuoffensif
    meneurdejeu mediapunta enganche mediocentroofensivo trequartista meiaofensivo meia medioofensivo
    aanvallendemiddenvelder spelmaker ofensywnypomocnik rozgrywajacy ofansifortasaha oyunkurucu`,
  LM: `linkesmittelfeld milieugauche interiorizquierdo centrocampistasinistro meiaesquerda medioesquerdo
    linkermiddenvelder lewypomocnik solortasaha`,
  RM: `rechtesmittelfeld milieudroit interiorderecho centrocampistadestro meiadireita mediodireito
    rechtermiddenvelder prawypomocnik sagortasaha`,
  LW: `winger leftwing la linksaussen linkerflugel aussensturmer flugel flugelspieler flugelspielerin
    flugelsturmer ailier ailiergauche extremo extremoizquierdo ala alasinistra esternosinistro
    ponta pontaesquerda extremoesquerdo vleugelspeler linksbuiten buitenspeler skrzydlowy lewyskrzydlowy
    lewoskrzydlowy kanat solkanat solacik`,
  RW: `rightwing ra rechtsaussen rechterflugel ailierdroit extremoderecho aladestra esternodestro pontadireita
    extremodireito rechtsbuiten prawyskrzydlowy prawoskrzydlowy sagkanat sagacik`,
  ST: `f fw fwd forward attacker sturm sturmer sturmerin sturmspitze spitze angriff angreifer angreiferin
    stosssturmer attaquant attaquante buteur avant delantero delantera atacante ariete attaccante punta
    primapunta avancado avancada pontadelanca spits aanvaller aanvalster napastnik napastniczka
    snajper forvet golcu hucumcu`,
  CF: `centerforward ms mittelsturmer mittelsturmerin hangendespitze avantcentre secondattaquant
    delanterocentro segundadelantera segundopunta centravanti secondapunta centroavante avancadocentro
    centrumspits diepespits srodkowynapastnik santrfor santrafor`,
};

const BY_WORD: ReadonlyMap<string, Position> = new Map(
  POSITIONS.flatMap((position) =>
    [position, POSITION_NAMES[position], ...(WORDS[position] ?? "").split(/\s+/)]
      .filter((word) => word !== "")
      .map((word): [string, Position] => [plainWord(word), position]),
  ),
);

/** The position's abbreviation, also for words that clubs use for it; any other text stays as it is. */
export function asPosition(text: string): string {
  return BY_WORD.get(plainWord(text)) ?? text;
}
