/** A word without accents, capitals and punctuation, also of letters that no decomposing makes plain. */
export const plainWord = (text: string): string =>
  text
    .normalize("NFD")
    .toLowerCase()
    .replaceAll("ß", "ss")
    .replaceAll("ł", "l")
    .replaceAll("ı", "i")
    .replaceAll("ø", "o")
    .replaceAll("æ", "ae")
    .replaceAll(/[^\p{L}\p{N}]/gu, "");

/** A column's heading as `HEADINGS` has it; many lists have nothing but # above the shirt numbers. */
export const plainHeading = (text: string): string =>
  text.trim() === "#" ? "number" : plainWord(text.replaceAll(/[ºª]/g, ""));

/** Above names in all their parts. */
const WHOLE_NAMES = `fullname displayname knownas playername spielername namevorname vornamename vorundnachname
  vornamenachname vornameundnachname nachnamevorname nomcomplet nometprenom nomprenom prenomnom prenometnom
  nombrecompleto nombreyapellidos nombreapellidos apellidosynombre apellidosnombre nominativo nomeecognome
  nomecognome cognomeenome cognomenome nomecompleto nomeesobrenome volledigenaam spelersnaam naamspeler
  voorenachternaam imieinazwisko imienazwisko nazwiskoiimie nazwiskoimie adsoyad adisoyadi adivesoyadi
  isimsoyisim oyuncuadi fuldenavn fuldtnavn fulltnavn fullstandigtnamn spillernavn spelarnamn`;
/** Above the first part of a name where a last one stands beside it. */
const FIRST_NAMES = `firstname forename givenname vorname rufname prenom nombre nombres nome nomeproprio
  primeironome voornaam roepnaam imie ad adi isim fornavn fornamn`;
/** Above a name, or its last part where there is a first one. */
const NAMES = "name nom naam navn namn";
const PLAYERS = `player spieler spielerin joueur joueuse jugador jugadora futbolista giocatore giocatrice
  calciatore atleta jogador jogadora speler speelster zawodnik zawodniczka gracz oyuncu futbolcu spiller
  spelare`;
const LAST_NAMES = `lastname surname familyname secondname nachname familienname zuname nomdefamille apellido
  apellidos cognome sobrenome apelido achternaam familienaam nazwisko soyad soyadi soyisim efternavn etternavn
  efternamn`;

const split = (words: string) => words.split(/\s+/).filter((word) => word !== "");
const FIRST = new Set(split(FIRST_NAMES));
const EITHER = new Set(split(NAMES));

/** Whether a column of this heading may have the first part of names, with another one beside it. */
export const mayBeFirstName = (heading: string): boolean => FIRST.has(heading) || EITHER.has(heading);
/** Whether a column of this heading has whole names in some lists, and last names in others. */
export const mayBeWholeName = (heading: string): boolean => EITHER.has(heading);

/**
 * What clubs and their software write above the columns of a squad list, in English, German, French, Spanish,
 * Italian, Portuguese, Dutch, Polish, Turkish, Danish, Norwegian and Swedish, as `plainWord` has it; the
 * surest first.
 */
const HEADINGS: Readonly<Record<string, string>> = {
  external_id: `externalid id playerid personid ref reference code member memberid licence license kennung
    spielerid passnummer passnr spielerpass mitgliedsnummer mitgliedsnr mitgliednr lizenz lizenznummer lizenznr
    nlicence nolicence numerolicence numerodelicence idjoueur licencia nlicencia numerolicencia
    numerodelicencia idjugador ficha numerodeficha tessera ntessera numerotessera tesserino matricola
    idgiocatore licenca nlicenca numerolicenca numerodelicenca idjogador relatiecode relatienummer lidnummer
    bondsnummer spelerid idzawodnika numerlicencji nrlicencji lisans lisansno lisansnumarasi oyuncuid spillerid
    medlemsnummer medlemsnr lisensnummer licensnummer licensnr spelarid`,
  name: `${WHOLE_NAMES} ${FIRST_NAMES} ${NAMES} ${PLAYERS} ${LAST_NAMES}`,
  name_2: `${LAST_NAMES} ${NAMES}`,
  position: `position pos role playingposition spielposition rolle mannschaftsteil poste posteoccupe posicion
    demarcacion puesto posizione ruolo posicao funcao positie veldpositie linie pozycja formacja pozisyon mevki
    mevkii bolge posisjon stilling`,
  number: `number no nr num shirt shirtnumber shirtno jersey jerseynumber kit kitnumber squadnumber squadno
    nummer ruckennummer rueckennummer ruckennr rueckennr trikotnummer trikotnr trikot spielernummer spielernr
    dorsal numero n nmaillot nomaillot maillot numeromaillot numerodemaillot dossard ndorsal numerodorsal
    numerodedorsal camiseta ncamiseta numerocamiseta numerodecamiseta maglia nmaglia numeromaglia
    numerodimaglia camisola ncamisola numerocamisola numerodacamisola camisa ncamisa numerodacamisa rugnummer
    rugnr shirtnummer numer numerkoszulki nrkoszulki numernakoszulce nrnakoszulce numerzawodnika numara forma
    formano formanumarasi sirtno sirtnumarasi trojenummer trojenr trojnummer trojnr draktnummer draktnr
    rygnummer ryggnummer spillernummer spelarnummer`,
  skill_level: `rating ovr overall overallrating skill skilllevel level score starke staerke spielstarke
    gesamtstarke bewertung wertung gesamtwertung note noteglobale notation niveau valoracion valoracionglobal
    puntuacion calificacion nivel valutazione voto punteggio livello overallfifa avaliacao nota pontuacao
    forca classificacao beoordeling waardering sterkte ocena poziom sila puan guc reyting derece seviye
    vurdering karakter styrke styrka betyg niva`,
  source_image_url: `photo photourl photolink image imageurl picture pictureurl headshot headshoturl
    sourceimageurl url link foto fotos fotourl fotolink bild bildurl bildlink spielerfoto spielerbild
    passfoto avatar portrait portrat lienphoto urlphoto imagen urlfoto enlacefoto fotografia immagine linkfoto
    imagem retrato afbeelding pasfoto zdjecie urlzdjecia linkdozdjecia fotograf resim billede billedlink bilde
    bildelenke bildlank spelarbild`,
  focus: "focus photofocus focuspoint fokus bildfokus",
  background_theme: `theme background backgroundtheme scene thema hintergrund hintergrundthema kulisse
    arriereplan fond decor fondo tema sfondo fundo achtergrond tlo motyw arkaplan baggrund bakgrunn bakgrund`,
  composition: `composition cardcomposition stylecomposition komposition bildaufbau composicion composizione
    composicao compositie kompozycja kompozisyon komposisjon`,
  club_badge_url: `badge badgeurl clubbadge clubbadgeurl crest cresturl logo logourl wappen vereinswappen
    vereinslogo ecusson blason logoclub logoduclub escudo escudodelclub stemma emblema brasao simbolo clublogo
    embleem clubembleem herb herbklubu logoklubu arma amblem kulupamblemi kuluplogosu klublogo klubmaerke
    klubblogo klubbmarke klubbmerke`,
  primary_color: `primarycolor primarycolour maincolor maincolour color colour color1 colour1 farbe hauptfarbe
    vereinsfarbe primarfarbe farbe1 couleur couleurprincipale couleur1 colorprincipal colorprimario colore
    coloreprincipale colore1 cor corprincipal cor1 kleur hoofdkleur kleur1 kolor kolorglowny kolor1 renk
    anarenk renk1 farve hovedfarve farve1 farge hovedfarge farge1 farg huvudfarg farg1`,
  secondary_color: `secondarycolor secondarycolour secondcolor secondcolour color2 colour2 zweitfarbe
    zweitefarbe nebenfarbe sekundarfarbe farbe2 couleursecondaire couleur2 colorsecundario segundocolor
    coloresecondario secondocolore colore2 corsecundaria cor2 tweedekleur kleur2 drugikolor kolor2 ikincirenk
    renk2 sekundaerfarve andenfarve farve2 sekundaerfarge andrefarge farge2 andrafarg farg2`,
  set_parallel: "parallel parallels parallele parallela paralela paralelo parallelle paralel",
  set_serial: `serial serialnumber serialno seriennummer numerodeserie numerodiserie serienummer numerseryjny
    serino serinumarasi`,
  set_count: `cardsofeach cardseach copies exemplare auflage anzahl exemplaires ejemplares cantidad copie
    quantita exemplares quantidade exemplaren aantal liczba ilosc adet eksemplarer antal antall`,
  back: "back backside otherside reverse ruckseite verso reverso retro achterkant rewers arkayuz bagside bakside baksida",
  foil: "foilplate plateoffoil folie foliendruck",
};

/** The usual headings of the column that fills a field, by the field's key in forms. */
export const headingsOf = (key: string): readonly string[] => split(HEADINGS[key] ?? "");
