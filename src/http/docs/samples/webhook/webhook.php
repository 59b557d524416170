<?php
const TOLERANCE_SECONDS = 300;

/** Whether the call was signed with the endpoint's secret within the last five minutes. */
function isGenuine(string $secret, array $headers, string $rawBody): bool
{
    $id = $headers['HTTP_WEBHOOK_ID'] ?? '';
    $timestamp = $headers['HTTP_WEBHOOK_TIMESTAMP'] ?? '';
    if (!ctype_digit($timestamp) || abs(time() - (int) $timestamp) > TOLERANCE_SECONDS) {
        return false;
    }
    $key = base64_decode(preg_replace('/^whsec_/', '', $secret));
    $wanted = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$rawBody", $key, true));
    // While a secret is being rotated there are two signatures, one for each secret.
    foreach (explode(' ', $headers['HTTP_WEBHOOK_SIGNATURE'] ?? '') as $entry) {
        if (hash_equals($wanted, $entry)) {
            return true;
        }
    }
    return false;
}

$secret = (string) getenv('CARDPRESS_WEBHOOK_SECRET');
// With an empty secret anybody could sign.
if (!preg_match('/^whsec_.{32,}$/', $secret)) {
    error_log('CARDPRESS_WEBHOOK_SECRET is not an endpoint\'s secret.');
    http_response_code(500);
    exit;
}
$rawBody = file_get_contents('php://input');
if (!isGenuine($secret, $_SERVER, $rawBody)) {
    http_response_code(401);
    exit;
}
$event = json_decode($rawBody, true);
// Put it into your own queue here: answer first, work afterwards.
error_log($event['type'] . ' ' . ($event['data']['image_id'] ?? ''));
http_response_code(204);
