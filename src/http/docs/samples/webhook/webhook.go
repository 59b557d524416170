package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

const tolerance = 5 * time.Minute

// isGenuine reports whether the call was signed with the endpoint's secret within the last five minutes.
func isGenuine(secret string, headers http.Header, rawBody []byte) bool {
	id, timestamp := headers.Get("webhook-id"), headers.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || time.Since(time.Unix(seconds, 0)).Abs() > tolerance {
		return false
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return false
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + timestamp + "."))
	mac.Write(rawBody)
	wanted := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	// While a secret is being rotated there are two signatures, one for each secret.
	for _, given := range strings.Fields(headers.Get("webhook-signature")) {
		if hmac.Equal([]byte(given), []byte(wanted)) {
			return true
		}
	}
	return false
}

func main() {
	secret := os.Getenv("CARDPRESS_WEBHOOK_SECRET")
	// With an empty secret anybody could sign.
	if !strings.HasPrefix(secret, "whsec_") || len(secret) < 38 {
		log.Fatal("CARDPRESS_WEBHOOK_SECRET is not an endpoint's secret.")
	}
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		rawBody, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
		if err != nil || !isGenuine(secret, r.Header, rawBody) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		var event struct {
			Type string
			Data map[string]any
		}
		if err := json.Unmarshal(rawBody, &event); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		// Put it into your own queue here: answer first, work afterwards.
		log.Println(event.Type, event.Data["image_id"])
		w.WriteHeader(http.StatusNoContent)
	})
	port := os.Getenv("PORT")
	if port == "" {
		port = "8080"
	}
	log.Fatal(http.ListenAndServe(":"+port, nil))
}
