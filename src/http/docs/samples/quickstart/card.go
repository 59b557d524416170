package main

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"time"
)

const api = "{{base_url}}"

type image struct {
	ID     string `json:"image_id"`
	Status string `json:"status"`
	Result struct {
		ImageURL string `json:"image_url"`
	} `json:"result"`
	Failure struct {
		Message string `json:"message"`
	} `json:"failure"`
}

func call(method, path string, body []byte, headers map[string]string) (image, error) {
	var answer struct {
		Data  image
		Error *struct{ Code, Message string }
	}
	request, err := http.NewRequest(method, api+path, bytes.NewReader(body))
	if err != nil {
		return answer.Data, err
	}
	request.Header.Set("X-API-Key", os.Getenv("CARDPRESS_KEY"))
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return answer.Data, err
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return answer.Data, err
	}
	if answer.Error != nil {
		return answer.Data, fmt.Errorf("%s: %s", answer.Error.Code, answer.Error.Message)
	}
	return answer.Data, nil
}

func main() {
	body, _ := json.Marshal(map[string]any{
		"type": "player_card",
		"player": map[string]any{
			"external_id":      "player-10442",
			"name":             "Eileen Collins",
			"position":         "ST",
			"number":           9,
			"skill_level":      87,
			"source_image_url": api + "/docs/samples/player.png",
		},
		"style": map[string]any{"preset": "{{preset}}", "background_theme": "stadium night"},
	})
	key := make([]byte, 16)
	rand.Read(key)
	card, err := call("POST", "/v1/images", body, map[string]string{
		"Content-Type":    "application/json",
		"Idempotency-Key": fmt.Sprintf("%x", key),
	})
	for err == nil && card.Status == "processing" {
		time.Sleep(time.Second)
		card, err = call("GET", "/v1/images/"+card.ID, nil, nil)
	}
	if err != nil {
		log.Fatal(err)
	}
	if card.Status == "failed" {
		log.Fatal(card.Failure.Message)
	}
	fmt.Println(card.Result.ImageURL)
}
